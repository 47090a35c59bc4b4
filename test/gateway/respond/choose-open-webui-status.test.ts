/** The small print above an answer. */
import { expect, test } from 'vitest'
import { chooseStatusLine } from '../../../src/gateway/respond/choose-open-webui-status.ts'
import { DEFAULT_CLIENT_TRAITS } from '../../../src/core/client/client-traits.ts'
import type { Note } from '../../../src/core/note.ts'
import { createOpenWebUiStatusMessage } from '../../../src/core/stream/open-webui-status-message.ts'

const OPEN_WEBUI = { ...DEFAULT_CLIENT_TRAITS, isOpenWebUi: true }
const CUT: Note = { did: 'dropped', at: 1, why: 'windowed' }
const FORGOT: Note = { did: 'dropped', why: 'memory-not-reached' }

test('is one line of JSON, in the form that Open WebUI shows', () => {
  expect(createOpenWebUiStatusMessage('Searching\n…', false)).toEqual({
    data: '{"event":{"type":"status","data":{"description":"Searching\\n…","done":false}}}',
  })
})

test('tells what matters most, once, however many notes there are', () => {
  const line = chooseStatusLine(OPEN_WEBUI, [CUT, CUT, FORGOT])
  expect(line?.data).toMatch(/memory could not be reached/)
  expect(chooseStatusLine(OPEN_WEBUI, [CUT, CUT])?.data).toMatch(/oldest messages .* left out/)
})

test('tells that a model is blind to what was attached (C78)', () => {
  const unseen: Note = { did: 'changed', at: 0, why: 'media-unseen' }
  expect(chooseStatusLine(OPEN_WEBUI, [unseen])?.data).toMatch(/cannot see everything/)
})

test('says nothing where a user misses nothing', () => {
  expect(chooseStatusLine(OPEN_WEBUI, [])).toBeNull()
  expect(
    chooseStatusLine(OPEN_WEBUI, [{ did: 'changed', at: 0, why: 'output-too-old' }]),
  ).toBeNull()
})

test('is for nobody but a user of Open WebUI', () => {
  expect(chooseStatusLine(DEFAULT_CLIENT_TRAITS, [FORGOT])).toBeNull()
  expect(chooseStatusLine({ ...OPEN_WEBUI, isTask: true }, [FORGOT])).toBeNull()
})
