/** Taps and drags on the board, by mouse, pen or finger. */

const FAR = 0.35; // units a pointer travels before a tap is a drag

/** @param {import("./board.mjs").Board} board */
export function pointerMoves(board) {
  let held = null; // {spot, x, y, element, dragged}

  board.svg.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || held) return;
    const { x, y } = board.toUnits(event.clientX, event.clientY);
    const spot = board.spotAt(x, y);
    if (spot === undefined) return board.select(null);
    const draggable = board.moves.sources().includes(spot);
    held = { spot, x, y, element: draggable ? board.checkers.top(spot) : null, dragged: false, id: event.pointerId };
    if (draggable) board.svg.setPointerCapture(event.pointerId);
  });

  board.svg.addEventListener("pointermove", (event) => {
    if (!held?.element || event.pointerId !== held.id) return;
    const { x, y } = board.toUnits(event.clientX, event.clientY);
    if (!held.dragged) {
      if (Math.hypot(x - held.x, y - held.y) < FAR) return;
      held.dragged = true;
      board.select(null);
      board.select(held.spot);
      held.element.classList.add("dragged");
      board.checkers.layer.append(held.element);
    }
    held.element.style.transform = `translate(${x}px, ${y}px)`;
  });

  const release = (event, dropped) => {
    if (!held || event.pointerId !== held.id) return;
    const { spot, element, dragged } = held;
    held = null;
    if (!dragged) return dropped && board.press(spot);
    element.classList.remove("dragged");
    const { x, y } = board.toUnits(event.clientX, event.clientY);
    const target = dropped ? board.spotAt(x, y, board.moves.targets(spot)) : undefined;
    board.checkers.settle(spot, board.geometry);
    board.select(null);
    if (target !== undefined) board.moves.move(spot, target);
  };
  board.svg.addEventListener("pointerup", (event) => release(event, true));
  board.svg.addEventListener("pointercancel", (event) => release(event, false));
}
