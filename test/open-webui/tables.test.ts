/** Checks what the suite concludes from texts and results; the suite itself runs on request only. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { PARTS } from './parts.ts'
import { renderResults } from './report.ts'
import { findMarkers } from './support/markers.ts'

test('a marker, a ULID and the name of the gateway are found in a text', () => {
  expect(findMarkers('[01M7TSPN9DP4SBT097SJ]: #\n\nFog.')).toEqual(['01M7TSPN9DP4SBT097SJ'])
  expect(findMarkers('{"format":"backstory-v1"}')).toEqual(['backstory-v1'])
})

test('ids of Open WebUI, numbers and encrypted content are no markers', () => {
  const id = '0a1b2c3d-0e4f-4a5b-8c6d-012345678901'
  expect(findMarkers(`${id} 0123456789 call_2_1 gAAAAABp0Q3hTz5Xw8V7`)).toEqual([])
})

test('a cell of the table names the wires that fail, if others do not', () => {
  const result = (column: string, wire: string, isGood: boolean) => {
    return { row: 'Copy', column, wire, isGood, detail: '' }
  }
  const table = renderResults(
    'surface',
    [
      result('chat', 'gemini', false),
      result('chat', 'anthropic', true),
      result('responses', 'responses', false),
    ],
    { good: 'not visible', bad: 'VISIBLE' },
  )
  expect(table.split('\n')).toEqual([
    '| surface | chat | responses |',
    '|---|---|---|',
    '| Copy | **VISIBLE** (gemini) | **VISIBLE** |',
  ])
})

test('the README of the suite lists every part', () => {
  const readme = readFileSync(new URL('README.md', import.meta.url), 'utf8')
  const [, rows = ''] = /\| part \|.*\n\|---\|---\|\n((?:\|.*\n)+)/.exec(readme) ?? []
  const listed = [...rows.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name)
  expect(listed).toEqual(PARTS.map(({ name }) => name))
})
