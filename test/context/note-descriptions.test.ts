import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { NOTE_DESCRIPTIONS } from '../../src/context/note-descriptions.ts'

const src = new URL('../../src/', import.meta.url)
/** The files of some folders of `src`, at any depth, with their texts. */
function readSources(folders: readonly string[]): readonly (readonly [string, string])[] {
  return readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((file) => folders.some((folder) => file.startsWith(`${folder}/`)))
    .filter((file) => file.endsWith('.ts') && !file.endsWith('/note-descriptions.ts'))
    .map((file) => [file, readFileSync(new URL(file, src), 'utf8')] as const)
}

/** Words with a hyphen that are no code of a note, beside the names of transforms. */
const NO_CODES: ReadonlySet<string> = new Set(['other-message'])

/** As `media-` of `media-${why}`. */
const halves: string[] = []

function isKnown(code: string): boolean {
  return code in NOTE_DESCRIPTIONS || halves.some((half) => `${half}${code}` in NOTE_DESCRIPTIONS)
}

function codesIn(text: string): readonly string[] {
  const code = text.replace(/\/\*[^]*?\*\//g, '').replace(/\/\/.*$/gm, '')
  const names = new Set([...code.matchAll(/\bname: '([a-z-]+)'/g)].map(([, name]) => name))
  const said = [...code.matchAll(/\bwhy: '([a-z-]+)'/g)].map(([, why]) => why ?? '')
  const hyphened = [...code.matchAll(/'([a-z]+(?:-[a-z]+)+)'/g)].map(([, word]) => word ?? '')
  // `import … from` has paths, which begin with a dot, and are not among them.
  const isCode = (word: string): boolean => !names.has(word) && !NO_CODES.has(word)
  halves.push(...[...code.matchAll(HALF)].map(([, half]) => half ?? ''))
  return [...said, ...hyphened].filter(isCode)
}

test('every code that a transform writes has a sentence (C45)', () => {
  const found = readSources(['context', 'recall']).flatMap(([file, text]) =>
    codesIn(text).map((code) => [file, code] as const),
  )
  const silent = found
    .filter(([, code]) => !isKnown(code))
    .map(([file, code]) => `${file}: ${code}`)
  expect([...new Set(silent)]).toEqual([])
})

test('no sentence is left of a code that nobody writes', () => {
  const all = readSources(FOLDERS)
    .map(([, text]) => text)
    .join('\n')
  const isWritten = (code: string): boolean =>
    all.includes(`'${code}'`) ||
    [...all.matchAll(HALF)].some(
      ([, half = '']) => code.startsWith(half) && all.includes(`'${code.slice(half.length)}'`),
    )
  expect(Object.keys(NOTE_DESCRIPTIONS).filter((code) => !isWritten(code))).toEqual([])
})

const FOLDERS = ['context', 'recall', 'media', 'memory', 'gateway', 'providers', 'server']

/** Some codes are put together: a word behind the first half of one. */
const HALF = /\bwhy: `([a-z-]+-)\$\{/g

test('a sentence is one, and reads like one', () => {
  for (const [code, sentence] of Object.entries(NOTE_DESCRIPTIONS)) {
    expect(code).toMatch(/^[a-z]+(-[a-z]+)*$/)
    expect(sentence).toMatch(/^[A-Z`].*\.$/)
    expect(sentence.length).toBeLessThan(120)
  }
})
