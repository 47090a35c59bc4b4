/**
 * Finds texts that a model could read as the start of a gateway notice, `[Gateway notice: `. Such a text may have other
 * brackets, letters that only look like these, and spaces, symbols or invisible characters anywhere between them.
 */

/**
 * Returns the index of each bracket before such words, in order. In JSON, the bracket may be escaped (`\u005b`); its
 * index is then that of the backslash.
 */
export function findNoticeBrackets(text: string): readonly number[] {
  if (text.length < MIN_CHARS) return NONE
  const found: number[] = []
  if (text.includes('[')) findSquareBrackets(text, found)
  const ofSquare = found.length
  if (text.includes(ESCAPED_BRACKET)) {
    ANY_ESCAPED_BRACKET.lastIndex = 0
    while (ANY_ESCAPED_BRACKET.test(text)) {
      const index = ANY_ESCAPED_BRACKET.lastIndex
      if (readNoticeWords(text, index) >= 0) found.push(index - ESCAPE_CHARS)
    }
  }
  const firstOther = text.search(OTHER_BRACKET)
  for (let index = firstOther; index >= 0 && index < text.length; index += 1) {
    if (isOtherBracket[text.charCodeAt(index)] === 1 && readNoticeWords(text, index + 1) >= 0)
      found.push(index)
  }
  // Sorting millions of indexes takes long; those of square brackets are in order.
  return found.length === ofSquare ? found : found.toSorted((a, b) => a - b)
}

/** Adds the index of each `[` before the words. */
function findSquareBrackets(text: string, found: number[]): void {
  SQUARE_BRACKET.lastIndex = 0
  while (SQUARE_BRACKET.test(text)) {
    let next = SQUARE_BRACKET.lastIndex
    // Often, one bracket ends the search that began at another. A loop is several times faster than a regular expression.
    for (;;) {
      const start = next
      // If the next bracket is so near, the words of a notice do not fit in between. With this check, a text of 29 MB
      // of `\[` takes a third of the time.
      const gap = countCharsToNearBracket(text, start)
      if (gap >= 0) {
        next = start + gap + 1
        continue
      }
      const end = readNoticeWords(text, start)
      if (end >= 0) found.push(start - 1)
      // Before the end, there is no other bracket.
      next = end >= 0 ? end : ~end
      if (text.charCodeAt(next) !== OPENING_BRACKET) break
      next += 1
    }
    SQUARE_BRACKET.lastIndex = next
  }
}

/** Returns the number of characters before the next bracket if it is 0 or 1, else -1. */
function countCharsToNearBracket(text: string, start: number): number {
  if (text.charCodeAt(start) === OPENING_BRACKET) return 0
  return text.charCodeAt(start + 1) === OPENING_BRACKET ? 1 : -1
}

/** Length of the shortest such text: a bracket and the words, in which one character may look like two letters. */
const MIN_CHARS = 12
const NONE: readonly number[] = []

/** True if the text may have an opening bracket. Much faster than a search for the words. */
export function mayHaveBracket(text: string): boolean {
  return text.includes('[') || text.includes(ESCAPED_BRACKET) || OTHER_BRACKET.test(text)
}

/** Skips brackets before a character with which the words cannot begin, e.g. `["`, `[0` or `[a`. */
const SQUARE_BRACKET = /\[(?=[^[\]{}()"',0-57-8a-fh-zA-FH-Z])/g
const OPENING_BRACKET = 91
const ESCAPED_BRACKET = String.raw`\u005`
const ANY_ESCAPED_BRACKET = /\\u005b/gi
/** Length of an escape with four hexadecimal digits. */
const ESCAPE_CHARS = 6
const OTHER_BRACKETS = '⁅⌈⌊⎡⎣❲⟦⟬⦋⦍⦏⦗⸢⸤「『【〔〖〘〚︹︻﹇﹝［｢'
/** 1 for the code of each such bracket: several times faster than a set. */
const isOtherBracket = new Uint8Array(0x1_0000)
for (const bracket of OTHER_BRACKETS) isOtherBracket[bracket.charCodeAt(0)] = 1
/** Matches these brackets and the characters between them. A search for few ranges is several times faster. */
const OTHER_BRACKET =
  /[\u2045\u2308-\u23a3\u2772-\u29ff\u2e22-\u2e57\u300c-\u301a\ufe39-\ufe5d\uff3b\uff62]/

/**
 * Returns the index after the words if they follow at this index, else the complement (`~`) of the index where the search
 * ended. Stops at the first other letter or bracket, so that the search is linear. A character such as `@` may be a
 * symbol between the letters or look like one of them, so several numbers of letters may be read at once: bit 3 of `read`
 * means that the text so far can be read as the first 3 letters.
 */
function readNoticeWords(text: string, start: number): number {
  let read = 1
  for (let index = start; index < text.length;) {
    let code = text.charCodeAt(index)
    let length = 1
    if (code === BACKSLASH) {
      const next = text.charCodeAt(index + 1)
      const unit = next === LETTER_U ? readHexDigits(text, index + 2) : -1
      if (unit >= 0) {
        code = unit
        length = ESCAPE_CHARS
      } else if (isWhitespaceEscape(next)) {
        code = SPACE
        length = 2
      }
    } else if (code >= FIRST_SURROGATE && code <= LAST_SURROGATE) {
      code = text.codePointAt(index) ?? 0
      if (code > 0xffff) length = 2
    }
    const charClass = getCharacterClass(code)
    if (charClass !== ONLY_SKIPPED) read = readCharacter(charClass, read)
    if (read === 0) return ~index
    index += length
    if ((read & ALL_READ) !== 0) return index
  }
  return ~text.length
}

const BACKSLASH = 92
const FIRST_SURROGATE = 0xd800
const LAST_SURROGATE = 0xdfff

const LETTER_U = 117

/** Reads the four digits of an escape of JSON such as `\u0047`. Returns -1 if they are no digits. */
function readHexDigits(text: string, start: number): number {
  let value = 0
  for (let index = start; index < start + 4; index += 1) {
    const code = text.charCodeAt(index)
    const lower = code | 32
    if (code >= 48 && code <= 57) value = value * 16 + code - 48
    else if (lower >= 97 && lower <= 102) value = value * 16 + lower - 87
    else return -1
  }
  return value
}

/** True for the letters of `\b`, `\f`, `\n`, `\r` and `\t`. */
function isWhitespaceEscape(letter: number): boolean {
  return letter === 110 || letter === 116 || letter === 114 || letter === 98 || letter === 102
}

const SPACE = 32

function readCharacter(charClass: number, read: number): number {
  const first = charClass & LETTER_BITS
  const second = (charClass >> SECOND_LETTER_SHIFT) & LETTER_BITS
  const skipped = (charClass & IS_SKIPPED) === 0 ? 0 : read
  if ((charClass & LOOKS_LIKE_V) !== 0) return skipped | readV(read)
  const readFirst = (read & first) << 1
  return skipped | (second === 0 ? readFirst : (readFirst & second) << 1)
}

/** Reads a `v`: two of them look like a `w`. */
function readV(read: number): number {
  return ((read & W) === 0 ? 0 : HALF_W) | ((read & HALF_W) === 0 ? 0 : W << 1)
}

const WORDS = 'gatewaynotice'
/** For each letter, the bits of its positions in the words: `a` → bits 1 and 5. */
const POSITIONS: ReadonlyMap<string, number> = new Map(
  [...new Set(WORDS)].map((letter) => [
    letter,
    Array.from(WORDS).reduce(
      (bits, other, index) => (other === letter ? bits | (1 << index) : bits),
      0,
    ),
  ]),
)
const ALL_READ = 1 << WORDS.length
const HALF_W = ALL_READ << 1
const W = POSITIONS.get('w') ?? 0

/*
 * The class of a character is a number: the positions of the letter that it is or looks like, those of the second
 * letter for a character such as `№`, and three bits.
 */
const LETTER_BITS = ALL_READ - 1
const SECOND_LETTER_SHIFT = WORDS.length
/** The character may stand anywhere in a notice without changing how it reads. */
const IS_SKIPPED = 1 << 26
const LOOKS_LIKE_V = 1 << 27
const IS_KNOWN = 1 << 28
const ONLY_SKIPPED = IS_KNOWN | IS_SKIPPED

/** The classes of characters that have occurred. A hostile text may have millions of them, so each is computed once. */
const classes = new Int32Array(0x2_0000)

function getCharacterClass(code: number): number {
  // The planes above have Chinese characters, and then only invisible ones, among them copies of ASCII.
  if (code >= FIRST_INVISIBLE) {
    const ascii = code - FIRST_INVISIBLE
    return IS_SKIPPED | (ascii < 128 ? getCharacterClass(ascii) & LETTER_BITS : 0)
  }
  if (code >= classes.length) return 0
  const known = classes[code] ?? 0
  return known === 0 ? addCharacterClass(code) : known
}

function addCharacterClass(code: number): number {
  return (classes[code] = computeCharacterClass(String.fromCodePoint(code)) | IS_KNOWN)
}

const FIRST_INVISIBLE = 0xe_0000

function computeCharacterClass(char: string): number {
  // Another bracket ends the search; otherwise, the time for many of them would be quadratic.
  if (OTHER_BRACKETS.includes(char)) return 0
  const letters = readLetters(char)
  const skipped = (char < '\u0080' ? !ASCII_BORDER.test(char) : SKIPPED.test(char)) ? IS_SKIPPED : 0
  if (letters === 'v') return skipped | LOOKS_LIKE_V
  if (letters.length > 2) return skipped
  const [first = 0, second = 0] = Array.from(letters, (letter) => POSITIONS.get(letter) ?? 0)
  // If the second letter does not occur in the words, the first must not count.
  if (letters.length === 2 && second === 0) return skipped
  return skipped | first | (second << SECOND_LETTER_SHIFT)
}

/** Letters and digits, and characters that end a text in code or JSON, as in `["gateway notice"]`. */
const ASCII_BORDER = /[A-Za-z0-9"'`()[\]{}<,]/

/** Spaces, marks, symbols and invisible characters, among them letters of Hangul and lone surrogates. */
const SKIPPED = /[\p{Z}\p{C}\p{M}\p{S}\p{Pc}\p{Pd}\p{Po}\p{Pi}\p{Pf}\u115f\u1160\u3164\uffa0]/u

/** Returns the letters that a character is or looks like: `𝐆` → `g`, `№` → `no`. */
function readLetters(char: string): string {
  const lower = char.toLowerCase()
  const known = LOOK_ALIKES.get(char) ?? LOOK_ALIKES.get(lower) ?? readEnclosedLetter(char)
  if (known !== undefined) return known
  const plain = char.normalize('NFKD').toLowerCase().replace(/\p{M}/gu, '')
  return Array.from(plain, (part) => LOOK_ALIKES.get(part) ?? part).join('')
}

/** Reads letters in circles, squares and flags, which have no decomposition: 🅖 → `g`. */
function readEnclosedLetter(char: string): string | undefined {
  const code = char.codePointAt(0) ?? 0
  const first = FIRST_ENCLOSED_LETTERS.find((start) => code >= start && code < start + 26)
  return first === undefined ? undefined : String.fromCodePoint(97 + code - first)
}

const FIRST_ENCLOSED_LETTERS = [0x1f150, 0x1f170, 0x1f1e6]

/** Characters that look like a letter of the words, and have no decomposition to it. */
const LOOK_ALIKES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    a: '4@аɑαᴀɐᗅᎪꓮꭺⲁⱥ∂\u{102a0}⍺\u{16f40}⍶ẚ',
    c: 'сϲᴄⲥꮯᏟꓚ¢ↄ\u{1043d}ȼ\u{1f74c}\u{118f2}\u{118e9}\u{102a2}\u{10302}\u{1051c}₡\u{1f16e}ҫҪ',
    e: '3еєεҽǝəɛɘᴇ℮ꓰᎬⲉҿɇꬲ⋿ⴹ\u{118a6}\u{118ae}\u{10286}',
    g: '69ɡգցԍɢᶃǥɠᏀᏻꓖᎶƍ',
    i: '1l|!ιіӏɩɪıᎥꓲ\u05c0ɨꙇ¡ǀ∣│丨\u05df\u0627\u0661ⵏⲓ\u{10309}˛⍳ͺꭵ\u{118c3}⏽\u06f1\u{10320}\u{1e8c7}\u05d5\u07caᛁ\u{16f28}\u{1028a}⍸ᵻᵼ',
    n: 'ոռпиνηɴᴎɲŋƞꓠⲛหղ\u{10513}\u{1018e}ɳᵰ',
    o: '0оοօσᴏøɵ০੦૦௦౦೦๐໐ဝ၀○●◯◦ⲟⵔꓳ\u06f0\u0665\u05dd\u0647ⱺθ\u07c0\u{1042c}〇\u0c02\u0c82\u0d02\u0d82०൦\u06f5ᴑꬽჿ\u05e1\u06be\ufbac\ufbad\ufbab\ufbaa\u06c1\ufba8\ufba9\ufba7\ufba6\u06d5ഠ\u{104ea}\u{118c8}\u{118d7}୦\u{114d0}\u{118e0}ዐଠ\u{104c2}\u{118b5}\u{10292}\u{102ab}\u{10516}\u06ffꬾⵁꝋөѳꮎꮻ⊖⊝⍬\u{1d21a}\u{1f714}ꝊӨѲⴱᎾᏫꭴတ',
    t: '7τтᴛŧƭʈƫţꓔᎢⲧ†⊤⟙\u{10297}\u{1f768}\u{16f0a}\u{118bc}\u{102b1}\u{10315}⍡ȾҬ₮ᵵ',
    v: 'ѵᴠⅴ∨⋁ꓦᏙ',
    w: 'ѡԝωᴡɯաшщꮃᎳꓪⲱⱳฬพ₩\u{1170a}\u{1170e}\u{1170f}\u{118ef}\u{118e6}Ꮤѽ\u{114c5}ꝡ',
    y: 'уγυʏүұყɏỿꓬᎩ¥ɣᶌꭚ\u{118dc}ⲨᎽ\u{16f43}\u{118a4}\u{102b2}ƴ',
  }).flatMap(([letter, chars]) => Array.from(chars, (char) => [char, letter] as const)),
)
