/** The status line that Open WebUI shows above an answer. */
import { expect, test } from 'vitest'
import { chooseOpenWebUiStatus } from '../../../src/gateway/respond/choose-open-webui-status.ts'
import { DEFAULT_CLIENT_TRAITS } from '../../../src/core/client/client-traits.ts'
import type { Note } from '../../../src/core/note.ts'
import { createOpenWebUiStatusMessage } from '../../../src/core/stream/open-webui-status-message.ts'

const OPEN_WEBUI = { ...DEFAULT_CLIENT_TRAITS, isOpenWebUi: true }
const WINDOWED: Note = { did: 'dropped', at: 1, why: 'windowed' }
const MEMORY_UNAVAILABLE: Note = { did: 'dropped', why: 'memory-not-reached' }

test('a status message is one line of JSON in the format of Open WebUI', () => {
  expect(createOpenWebUiStatusMessage('Searching\n…', false)).toEqual({
    data: '{"event":{"type":"status","data":{"description":"Searching\\n…","done":false}}}',
    text: 'Searching\n…',
  })
})

test('the status line of Open WebUI is about the most important of several notes', () => {
  const line = chooseOpenWebUiStatus(OPEN_WEBUI, [WINDOWED, WINDOWED, MEMORY_UNAVAILABLE])
  expect(line?.data).toMatch(/memory could not be reached/)
  expect(chooseOpenWebUiStatus(OPEN_WEBUI, [WINDOWED, WINDOWED])?.data).toMatch(
    /oldest messages .* left out/,
  )
})

test('the status line of Open WebUI reports attachments that the model cannot see (C78)', () => {
  const unseen: Note = { did: 'changed', at: 0, why: 'media-unseen' }
  expect(chooseOpenWebUiStatus(OPEN_WEBUI, [unseen])?.data).toMatch(/cannot see everything/)
})

test('Open WebUI gets no status line if no note concerns the user', () => {
  expect(chooseOpenWebUiStatus(OPEN_WEBUI, [])).toBeNull()
  expect(
    chooseOpenWebUiStatus(OPEN_WEBUI, [{ did: 'changed', at: 0, why: 'output-too-old' }]),
  ).toBeNull()
})

test('no status line is sent to clients other than Open WebUI, and none for its task requests', () => {
  expect(chooseOpenWebUiStatus(DEFAULT_CLIENT_TRAITS, [MEMORY_UNAVAILABLE])).toBeNull()
  expect(chooseOpenWebUiStatus({ ...OPEN_WEBUI, isTask: true }, [MEMORY_UNAVAILABLE])).toBeNull()
})
