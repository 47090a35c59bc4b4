import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { NOTE_DESCRIPTIONS } from '../../src/context/note-descriptions.ts'

const src = new URL('../../src/', import.meta.url)
/** Reads all files in some folders of `src`. */
function readSources(folders: readonly string[]): readonly (readonly [string, string])[] {
  return readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((file) => folders.some((folder) => file.startsWith(`${folder}/`)))
    .filter((file) => file.endsWith('.ts') && !file.endsWith('/note-descriptions.ts'))
    .map((file) => [file, readFileSync(new URL(file, src), 'utf8')] as const)
}

/** Strings with a hyphen that are neither a note code nor the name of a transform. */
const NO_CODES: ReadonlySet<string> = new Set(['other-message'])

/** Prefixes of composed codes, e.g. `media-` of `media-${why}`. */
const prefixes: string[] = []

function isKnown(code: string): boolean {
  return (
    code in NOTE_DESCRIPTIONS || prefixes.some((prefix) => `${prefix}${code}` in NOTE_DESCRIPTIONS)
  )
}

function extractCodes(text: string): readonly string[] {
  const code = text.replace(/\/\*[^]*?\*\//g, '').replace(/\/\/.*$/gm, '')
  const names = new Set([...code.matchAll(/\bname: '([a-z-]+)'/g)].map(([, name]) => name))
  const said = [...code.matchAll(/\bwhy: '([a-z-]+)'/g)].map(([, why]) => why ?? '')
  const hyphened = [...code.matchAll(/'([a-z]+(?:-[a-z]+)+)'/g)].map(([, word]) => word ?? '')
  // Import paths begin with a dot and do not match the patterns.
  const isCode = (word: string): boolean => !names.has(word) && !NO_CODES.has(word)
  prefixes.push(...[...code.matchAll(COMPOSED_CODE)].map(([, prefix]) => prefix ?? ''))
  return [...said, ...hyphened].filter(isCode)
}

test('each note code that a transform writes has a description (C45)', () => {
  const found = readSources(['context', 'recall']).flatMap(([file, text]) =>
    extractCodes(text).map((code) => [file, code] as const),
  )
  const silent = found
    .filter(([, code]) => !isKnown(code))
    .map(([file, code]) => `${file}: ${code}`)
  expect([...new Set(silent)]).toEqual([])
})

test('each description belongs to a note code that occurs in the source code', () => {
  const all = readSources(FOLDERS)
    .map(([, text]) => text)
    .join('\n')
  const isWritten = (code: string): boolean =>
    all.includes(`'${code}'`) ||
    [...all.matchAll(COMPOSED_CODE)].some(
      ([, prefix = '']) =>
        code.startsWith(prefix) && all.includes(`'${code.slice(prefix.length)}'`),
    )
  expect(Object.keys(NOTE_DESCRIPTIONS).filter((code) => !isWritten(code))).toEqual([])
})

const FOLDERS = ['context', 'recall', 'media', 'memory', 'gateway', 'providers', 'server']

/** Matches composed codes, e.g. `media-${why}`. */
const COMPOSED_CODE = /\bwhy: `([a-z-]+-)\$\{/g

test('each description of a note code is a short sentence', () => {
  for (const [code, sentence] of Object.entries(NOTE_DESCRIPTIONS)) {
    expect(code).toMatch(/^[a-z]+(-[a-z]+)*$/)
    expect(sentence).toMatch(/^[A-Z`].*\.$/)
    expect(sentence.length).toBeLessThan(120)
  }
})
