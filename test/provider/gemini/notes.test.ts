import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { NOTES } from '../../../src/provider/gemini/notes.ts'

test('the table of notes holds no code that nobody writes, and a sentence for each', () => {
  const folder = new URL('../../../src/provider/gemini/', import.meta.url)
  const sources = readdirSync(folder)
    .filter((file) => file !== 'notes.ts')
    .map((file) => readFileSync(new URL(file, folder), 'utf8'))
    .join('\n')
  expect(Object.keys(NOTES).filter((code) => !sources.includes(`'${code}'`))).toEqual([])
  for (const [, sentence] of Object.values(NOTES)) expect(sentence).toMatch(/^[A-Z].*\.$/)
})
