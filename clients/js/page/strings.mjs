/** Every text of the page, in English and Russian. Texts with `{name}` take the values that go with them. */

const en = {
  title: "Nardy", language: "Русский", languageCode: "ru",
  you: "You", bot: "Bot", game: "Game {number}", score: "You {you} : {bot} bot", seed: "Dice of seed {seed}",
  chooseBot: "Choose a bot", openFolder: "Open a bundle…", dropHere: "or drop its folder here", loading: "Loading {name}…",
  noBundles: "No bots are listed here. Open a bundle from your disk: a folder with card.json and policy.onnx.",
  noRuntime: "onnxruntime-web is missing: run “npm install” in the folder of this page.",
  problem_missing: "The bundle is not whole: it has no {file}.",
  problem_damaged: "{file} is damaged: it is not the file that the bundle's card lists.",
  problem_card: "card.json is truncated, damaged or no card of a bundle.",
  problem_format: "The bundle is of another format: this page is too old or too new for it.",
  problem_network: "policy.onnx cannot be played.",
  variant_short: "Short nardy (backgammon)", variant_long: "Long nardy", variant_gulbar: "Gyulbar",
  variant_mad_gulbar_a: "Mad gyulbar, two moves a value", variant_mad_gulbar_b: "Mad gyulbar, four moves a value",
  house: "House rules: {name}", games: "trained on {games} games",
  settings: "Settings", colour: "Your checkers", white: "White", black: "Black", home: "Your home", right: "Right", left: "Left",
  dice: "Dice", diceAuto: "Thrown by the computer", diceHand: "Thrown by hand", speed: "Bot's pace", calm: "Calm", quick: "Quick",
  newGame: "New game", nextGame: "Next game", undo: "Undo", done: "Done", evaluate: "Evaluation", otherBot: "Other bot",
  abandon: "The game is not finished. Begin a new one?",
  lottery: "Lottery: you {mine}, bot {other}.", begins_you: "You begin.", begins_bot: "The bot begins.",
  turn_you: "Your turn: {dice}.", turn_bot: "The bot has {dice}.", thinking: "The bot is playing {dice}.",
  passed_to_you: "The bot could not play {dice}: play them first, then roll.",
  passed_to_bot: "You could not play {dice}: the bot plays them.",
  pass_you: "You cannot move with {dice}: the turn passes.", pass_bot: "The bot cannot move with {dice}.",
  lost_you: "You lose {dice}.", lost_bot: "The bot loses {dice}.", kept: "{dice} will be passed on.",
  extra_you: "A full double: you roll again.", extra_bot: "A full double: the bot rolls again.",
  played_bot: "The bot played {dice}: {play}.", confirm: "Press Done, or Undo to change your play.",
  then: "Then", passedOn: "passed on",
  won: "You win {points} ({kind}).", lost: "The bot wins {points} ({kind}).",
  point_one: "{number} point", point_few: "{number} points", point_many: "{number} points",
  kind_oin: "oin", kind_mars: "mars", kind_home_mars: "home mars", kind_koks: "koks",
  kind_single: "single", kind_gammon: "gammon", kind_home_gammon: "home gammon", kind_backgammon: "backgammon",
  throwFor_you: "Your roll: which dice?", throwFor_bot: "The bot's roll: which dice?",
  evaluation: "What the bot thinks", forYou: "for you, after the best play", win: "You win", lose: "You lose", orMore: "{kind} or more",
  equity: "Equity", play: "Play", loss: "Loss", showPlay: "Put this play on the board", pass: "pass",
  more: "{number} more plays", log: "Moves", noPlays: "Nobody has moved yet.",
  board: "Board", point: "Point {number}", bar: "Bar", off: "Borne off", empty: "empty",
  mine: "yours: {number}", theirs: "the bot's: {number}", canMove: "can move", canLand: "can land here",
  keys: "Keys: arrows and Enter move, U undo, D done, E evaluation.", pips: "Pips",
};

/** @type {typeof en} */
const ru = {
  title: "Нарды", language: "English", languageCode: "en",
  you: "Вы", bot: "Бот", game: "Партия {number}", score: "Вы {you} : {bot} бот", seed: "Зары от числа {seed}",
  chooseBot: "Выберите бота", openFolder: "Открыть бота…", dropHere: "или перетащите его папку сюда", loading: "Загружается {name}…",
  noBundles: "Здесь нет списка ботов. Откройте бота с диска: папку с файлами card.json и policy.onnx.",
  noRuntime: "Нет onnxruntime-web: выполните «npm install» в папке этой страницы.",
  problem_missing: "Бот не полон: в нём нет {file}.",
  problem_damaged: "Файл {file} повреждён: это не тот файл, что указан в card.json.",
  problem_card: "card.json обрезан, повреждён или не описывает бота.",
  problem_format: "Бот другого формата: страница для него слишком стара или слишком нова.",
  problem_network: "policy.onnx не удаётся запустить.",
  variant_short: "Короткие нарды", variant_long: "Длинные нарды", variant_gulbar: "Гюльбар",
  variant_mad_gulbar_a: "Бешеный гюльбар, по два хода", variant_mad_gulbar_b: "Бешеный гюльбар, по четыре хода",
  house: "Свои правила: {name}", games: "обучен на {games} партиях",
  settings: "Настройки", colour: "Ваши шашки", white: "Белые", black: "Чёрные", home: "Ваш дом", right: "Справа", left: "Слева",
  dice: "Зары", diceAuto: "Бросает компьютер", diceHand: "Бросаете вы", speed: "Темп бота", calm: "Спокойный", quick: "Быстрый",
  newGame: "Новая партия", nextGame: "Следующая партия", undo: "Назад", done: "Готово", evaluate: "Оценка", otherBot: "Другой бот",
  abandon: "Партия не окончена. Начать новую?",
  lottery: "Жребий: у вас {mine}, у бота {other}.", begins_you: "Начинаете вы.", begins_bot: "Начинает бот.",
  turn_you: "Ваш ход: {dice}.", turn_bot: "У бота {dice}.", thinking: "Бот играет {dice}.",
  passed_to_you: "Бот не доиграл {dice}: доиграйте за него, затем бросайте.",
  passed_to_bot: "Вы не доиграли {dice}: их доигрывает бот.",
  pass_you: "{dice}: не идёт, ход переходит.", pass_bot: "У бота {dice} не идёт.",
  lost_you: "У вас пропадает {dice}.", lost_bot: "У бота пропадает {dice}.", kept: "{dice} перейдёт противнику.",
  extra_you: "Дубль сыгран: бросаете ещё раз.", extra_bot: "Дубль сыгран: бот бросает ещё раз.",
  played_bot: "Бот сыграл {dice}: {play}.", confirm: "Нажмите «Готово» или «Назад», чтобы сыграть иначе.",
  then: "Затем", passedOn: "недоигранные",
  won: "Вы выиграли {points} ({kind}).", lost: "Бот выиграл {points} ({kind}).",
  point_one: "{number} очко", point_few: "{number} очка", point_many: "{number} очков",
  kind_oin: "оин", kind_mars: "марс", kind_home_mars: "домашний марс", kind_koks: "кокс",
  kind_single: "оин", kind_gammon: "марс", kind_home_gammon: "домашний марс", kind_backgammon: "кокс",
  throwFor_you: "Ваш бросок: что выпало?", throwFor_bot: "Бросок бота: что выпало?",
  evaluation: "Мнение бота", forYou: "для вас, после лучшего хода", win: "Вы выиграете", lose: "Вы проиграете", orMore: "{kind} и больше",
  equity: "Ожидание", play: "Ход", loss: "Потеря", showPlay: "Сделать этот ход на доске", pass: "пас",
  more: "ещё ходов: {number}", log: "Ходы", noPlays: "Ходов ещё не было.",
  board: "Доска", point: "Пункт {number}", bar: "Бар", off: "За доской", empty: "пусто",
  mine: "ваших: {number}", theirs: "у бота: {number}", canMove: "может ходить", canLand: "можно встать",
  keys: "Клавиши: стрелки и Enter — ход, U — назад, D — готово, E — оценка.", pips: "Очки до конца",
};

export const LANGUAGES = { en, ru };

let current = en;

/** @param {string} code "en" or "ru" */
export function setLanguage(code) {
  current = LANGUAGES[code] ?? en;
}

/** The text `key` in the language in use. @param {Record<string, string | number>} [values] */
export function say(key, values = {}) {
  return current[key].replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
}

export const languageInUse = () => Object.keys(LANGUAGES).find((code) => LANGUAGES[code] === current);

/** "1 point", "2 очка": with the form of the word that the number takes. */
export function sayPoints(number) {
  const form = new Intl.PluralRules(languageInUse()).select(number);
  return say({ one: "point_one", few: "point_few" }[form] ?? "point_many", { number });
}
