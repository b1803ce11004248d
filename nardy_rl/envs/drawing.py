"""The board as an image: wood, points, checkers, dice. Drawn large and scaled down, so that edges are smooth."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter, ImageFont

from nardy_rl.rules.board import BOTTOM, TOP, check_drawn, pips
from nardy_rl.rules.position import BAR, OFF, Position, check_position
from nardy_rl.rules.variant import Variant

_SAMPLES = 3  # pixels drawn for each one shown, along each side
_COLUMNS = 17.0  # width of the board in points: 12 points, bar, two trays, frame
_BODY = 12.6  # its height
_FRAME, _TRAY, _BAR_WIDTH = 0.75, 0.9, 1.3
_CAPTION = 0.9
_POINT_LENGTH = 4.9
_STACK = 5  # checkers of a stack that fit; a taller one is pushed together and counted

_RGB = tuple[int, int, int]
_FRAME_WOOD, _FIELD_WOOD, _TRAY_WOOD = (84, 47, 27), (202, 158, 105), (58, 32, 19)
_DARK_POINT, _LIGHT_POINT = (112, 52, 34), (238, 214, 170)
_IVORY, _EBONY = (243, 230, 204), (52, 41, 38)
_INK, _GOLD = (38, 24, 16), (226, 196, 140)


def draw_board(
    variant: Variant,
    position: Position,
    *,
    width: int = 960,
    dice: Sequence[int] | None = None,
    caption: str | None = None,
) -> NDArray[np.uint8]:
    """The board from the seat of row 0, whose checkers are ivory and whose home lies at the lower right.

    The points bear row 0's own numbers; in the frame stand both sides' pips. `dice`: one to four. `caption`, a line
    below the board, is in Latin letters: the built-in font has no others. Returns uint8[H, width, 3]; H depends on
    `width` and on whether there is a caption. Raises ValueError for a position that cannot stand in `variant`, for
    impossible dice, or a width below 160.
    """
    check_position(variant, position)
    if width < 160:
        raise ValueError(f"width must be at least 160 pixels, not {width}")
    unit = width * _SAMPLES / _COLUMNS
    image = _empty_board(width, caption is not None).copy()
    _draw_points(image, variant, position, unit)
    _draw_bar(image, position, unit)
    _draw_off(image, variant, position, unit)
    _draw_pips(image, position, unit)
    if dice is not None:
        _draw_dice(image, check_drawn(dice), unit)
    if caption is not None:
        _write(image, (_COLUMNS / 2, _BODY + 0.38), caption, 0.46, _GOLD, unit)
    size = (width, round(image.height / _SAMPLES))
    return np.asarray(image.resize(size, Image.Resampling.BOX))


def _left(column: float) -> float:
    """The left edge of column 0…11 of points."""
    return _FRAME + _TRAY + 0.2 + column + (_BAR_WIDTH if column >= 6 else 0)


def _column(point: int) -> tuple[float, bool]:
    """Where row 0's point lies: the centre of its column, and whether at the upper edge."""
    points = TOP if point > 12 else BOTTOM
    return _left(points.index(point)) + 0.5, point > 12


def _box(left: float, top: float, right: float, bottom: float, unit: float) -> tuple[int, int, int, int]:
    return round(left * unit), round(top * unit), round(right * unit), round(bottom * unit)


@lru_cache(maxsize=4)
def _empty_board(width: int, captioned: bool) -> Image.Image:
    unit = width * _SAMPLES / _COLUMNS
    size = (width * _SAMPLES, round((_BODY + _CAPTION * captioned) * width / _COLUMNS) * _SAMPLES)
    image = _wood(size, _FRAME_WOOD, 1)
    fields = (_left(0), _left(6))
    for number, left in enumerate(fields):
        _sink(image, _FIELD_WOOD, (left, _FRAME, left + 6, _BODY - _FRAME), unit, number)
    # Two trays on either side: in parallel games the homes, and so the borne-off checkers, lie at opposite ends.
    for number, left in enumerate((_FRAME - 0.15, _COLUMNS - _FRAME - _TRAY + 0.15)):
        for top, bottom in ((_FRAME, _BODY / 2 - 0.25), (_BODY / 2 + 0.25, _BODY - _FRAME)):
            _sink(image, _TRAY_WOOD, (left, top, left + _TRAY, bottom), unit, number + 2)
    draw = ImageDraw.Draw(image)
    for point in range(1, 25):
        _draw_triangle(draw, point, unit)
        centre, upper = _column(point)
        _write(image, (centre, _FRAME / 2 if upper else _BODY - _FRAME / 2), str(point), 0.34, _GOLD, unit)
    _draw_hinges(draw, unit)
    return image


def _wood(size: tuple[int, int], colour: _RGB, seed: int) -> Image.Image:
    """A plank with its grain along x."""
    generator = np.random.default_rng(seed)
    width, height = size
    grain = np.zeros((height, width), np.float32)
    for along, across, strength in ((3, 40, 0.5), (6, 160, 0.35), (24, 600, 0.25)):
        noise = Image.fromarray(generator.standard_normal((across, along)).astype(np.float32))
        grain += strength * np.asarray(noise.resize(size, Image.Resampling.BICUBIC))
    shade = 1 + 0.075 * grain[..., None]
    return Image.fromarray(np.clip(np.array(colour, np.float32) * shade, 0, 255).astype(np.uint8))


def _sink(image: Image.Image, colour: _RGB, box: tuple[float, float, float, float], unit: float, seed: int) -> None:
    """Let a plank of another wood into the board, with a shadow along its edge."""
    left, top, right, bottom = _box(*box, unit)
    plank = _wood((right - left, bottom - top), colour, 10 + seed)
    edge = Image.new("L", plank.size, 255)
    inset = round(0.05 * unit)
    ImageDraw.Draw(edge).rectangle((inset, inset * 2, plank.width - inset, plank.height - inset), fill=0)
    edge = edge.filter(ImageFilter.GaussianBlur(0.11 * unit)).point(lambda value: value * 0.62)
    plank.paste((20, 10, 4), (0, 0), edge)
    image.paste(plank, (left, top))


def _draw_triangle(draw: ImageDraw.ImageDraw, point: int, unit: float) -> None:
    centre, upper = _column(point)
    base = _FRAME + 0.04 if upper else _BODY - _FRAME - 0.04
    tip = base + _POINT_LENGTH if upper else base - _POINT_LENGTH
    corners = [((centre + dx) * unit, y * unit) for dx, y in ((-0.46, base), (0.46, base), (0, tip))]
    fill = _DARK_POINT if (point % 2 == 0) == upper else _LIGHT_POINT
    draw.polygon(corners, fill=fill)
    draw.line([corners[0], corners[2], corners[1]], fill=(74, 38, 22), width=max(round(0.025 * unit), 1))


def _draw_hinges(draw: ImageDraw.ImageDraw, unit: float) -> None:
    centre = _COLUMNS / 2
    draw.line((centre * unit, 0, centre * unit, _BODY * unit), fill=(46, 24, 13), width=max(round(0.04 * unit), 1))
    for y in (_BODY * 0.5 - 0.55, _BODY * 0.5 + 0.55):
        box = _box(centre - 0.16, y - 0.34, centre + 0.16, y + 0.34, unit)
        draw.rounded_rectangle(box, 0.06 * unit, fill=(178, 143, 78), outline=(96, 70, 32), width=round(0.03 * unit))


@lru_cache(maxsize=8)
def _checker(diameter: int, colour: _RGB) -> tuple[Image.Image, Image.Image]:
    """A checker lit from the upper left, and its mask."""
    y, x = np.mgrid[0:diameter, 0:diameter] / (diameter - 1) * 2 - 1
    radius = np.hypot(x, y)
    light = -(x + y) / np.sqrt(2)  # 1 at the upper left
    shade = 1 + 0.10 * light * np.clip(1 - radius, 0, 1)
    rim = np.exp(-(((radius - 0.92) / 0.07) ** 2))
    ring = np.exp(-(((radius - 0.66) / 0.035) ** 2))
    shade += 0.20 * rim * light - 0.16 * ring * light - 0.07 * ring
    # Added, not multiplied: dark wood would not show it otherwise.
    gloss = 26 * (rim - ring) * light + 34 * np.exp(-(((x + 0.32) / 0.42) ** 2 + ((y + 0.38) / 0.34) ** 2))
    pixels = np.clip(np.array(colour) * shade[..., None] + gloss[..., None], 0, 255)
    pixels[radius > 0.975] *= 0.55
    return Image.fromarray(pixels.astype(np.uint8)), Image.fromarray((radius <= 1).astype(np.uint8) * 255)


@lru_cache(maxsize=4)
def _shadow(diameter: int) -> Image.Image:
    margin = diameter // 8
    mask = Image.new("L", (diameter + 2 * margin,) * 2, 0)
    ImageDraw.Draw(mask).ellipse((margin, margin, margin + diameter, margin + diameter), fill=120)
    return mask.filter(ImageFilter.GaussianBlur(margin / 2))


def _put_checker(image: Image.Image, centre: tuple[float, float], colour: _RGB, unit: float) -> None:
    diameter = round(0.9 * unit)
    left, top = (round(value * unit) - diameter // 2 for value in centre)
    shadow = _shadow(diameter)
    margin = diameter // 8
    drop = round(0.05 * unit)
    image.paste((12, 6, 2), (left - margin + drop // 2, top - margin + drop), shadow)
    face, mask = _checker(diameter, colour)
    image.paste(face, (left, top), mask)


def _put_stack(image: Image.Image, x: float, base: float, step: float, count: int, colour: _RGB, unit: float) -> None:
    """`count` checkers from y = `base` on, `step` apart (pushed together when they are many), counted if many."""
    if count == 0:
        return
    pitch = step * min(1.0, (_STACK - 1) / max(count - 1, 1))
    for level in range(count):
        _put_checker(image, (x, base + level * pitch), colour, unit)
    if count > _STACK:
        _write(image, (x, base + (count - 1) * pitch), str(count), 0.42, _INK if colour == _IVORY else _IVORY, unit)


def _draw_points(image: Image.Image, variant: Variant, position: Position, unit: float) -> None:
    own, opp = position.array
    for point in range(1, 25):
        x, upper = _column(point)
        base, step = (_FRAME + 0.52, 0.92) if upper else (_BODY - _FRAME - 0.52, -0.92)
        _put_stack(image, x, base, step, int(own[point]), _IVORY, unit)
        _put_stack(image, x, base, step, int(opp[variant.mirror(point)]), _EBONY, unit)


def _draw_bar(image: Image.Image, position: Position, unit: float) -> None:
    own, opp = position.array
    centre = _COLUMNS / 2
    _put_stack(image, centre, _BODY / 2 + 1.55, 0.8, int(own[BAR]), _IVORY, unit)
    _put_stack(image, centre, _BODY / 2 - 1.55, -0.8, int(opp[BAR]), _EBONY, unit)


def _draw_off(image: Image.Image, variant: Variant, position: Position, unit: float) -> None:
    """The checkers borne off, on edge in the tray beside their owner's home."""
    right, left = _COLUMNS - _FRAME - _TRAY + 0.15, _FRAME - 0.15
    others = right if variant.direction == "contrary" else left
    draw = ImageDraw.Draw(image)
    slot = (_BODY / 2 - 0.25 - _FRAME - 0.12) / variant.checkers
    for row, x, colour, upper in ((0, right, _IVORY, False), (1, others, _EBONY, True)):
        for level in range(int(position.array[row, OFF])):
            top = _FRAME + 0.06 + level * slot if upper else _BODY - _FRAME - 0.06 - (level + 1) * slot
            box = _box(x + 0.08, top + 0.02, x + _TRAY - 0.08, top + slot - 0.02, unit)
            shine = tuple(min(value + 26, 255) for value in colour)
            draw.rounded_rectangle(box, 0.07 * unit, fill=colour, outline=(24, 14, 8), width=round(0.02 * unit))
            draw.line((box[0] + 0.08 * unit, box[1] + 0.09 * unit, box[2] - 0.08 * unit, box[1] + 0.09 * unit), shine)


def _draw_pips(image: Image.Image, position: Position, unit: float) -> None:
    for row, y in ((1, _FRAME / 2), (0, _BODY - _FRAME / 2)):
        _write(image, (_COLUMNS / 2, y), str(pips(position.array[row])), 0.38, _IVORY, unit, plate=True)


def _draw_dice(image: Image.Image, dice: tuple[int, ...], unit: float) -> None:
    draw = ImageDraw.Draw(image)
    half, middle, pitch = 0.42, _left(6) + 3, 1.2
    for place, number in enumerate(dice):
        x, y = middle + (place - (len(dice) - 1) / 2) * pitch, _BODY / 2
        shadow = _box(x - half + 0.03, y - half + 0.06, x + half + 0.05, y + half + 0.09, unit)
        draw.rounded_rectangle(shadow, 0.16 * unit, fill=(122, 84, 48))
        box = _box(x - half, y - half, x + half, y + half, unit)
        draw.rounded_rectangle(box, 0.16 * unit, fill=(252, 247, 236), outline=(150, 128, 96), width=round(0.02 * unit))
        for dx, dy in _eyes(number):
            draw.ellipse(_box(x + dx - 0.08, y + dy - 0.08, x + dx + 0.08, y + dy + 0.08, unit), fill=(122, 24, 24))


def _eyes(number: int) -> list[tuple[float, float]]:
    """Where the eyes of a die lie, from its centre."""
    far = 0.23
    eyes = [(0.0, 0.0)] if number % 2 else []
    if number > 1:
        eyes += [(-far, -far), (far, far)]
    if number > 3:
        eyes += [(-far, far), (far, -far)]
    if number == 6:
        eyes += [(-far, 0.0), (far, 0.0)]
    return eyes


def _write(
    image: Image.Image,
    centre: tuple[float, float],
    text: str,
    size: float,
    colour: _RGB,
    unit: float,
    plate: bool = False,
) -> None:
    """Centred text; `plate`: on a small dark plate."""
    draw = ImageDraw.Draw(image)
    x, y = centre[0] * unit, centre[1] * unit
    font = _font(round(size * unit))
    if plate:
        half = draw.textlength(text, font) / 2 + 0.14 * unit
        box = (x - half, y - 0.26 * unit, x + half, y + 0.26 * unit)
        draw.rounded_rectangle(box, 0.1 * unit, fill=(40, 22, 13), outline=(140, 104, 58), width=round(0.02 * unit))
    draw.text((x, y), text, fill=colour, font=font, anchor="mm")


@lru_cache(maxsize=16)
def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)
