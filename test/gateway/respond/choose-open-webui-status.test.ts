/** The small print above an answer. */
import { expect, test } from 'vitest'
import { statusFor } from '../../../src/gateway/respond/choose-open-webui-status.ts'
import { PLAIN_CLIENT } from '../../../src/core/client/client-traits.ts'
import type { Note } from '../../../src/core/note.ts'
import { statusLine } from '../../../src/core/stream/open-webui-status-message.ts'

const OPEN_WEBUI = { ...PLAIN_CLIENT, isOpenWebUi: true }
const CUT: Note = { did: 'dropped', at: 1, why: 'windowed' }
const FORGOT: Note = { did: 'dropped', why: 'memory-not-reached' }

test('is one line of JSON, in the form that Open WebUI shows', () => {
  expect(statusLine('Searching\n…', false)).toEqual({
    data: '{"event":{"type":"status","data":{"description":"Searching\\n…","done":false}}}',
  })
})

test('tells what matters most, once, however many notes there are', () => {
  const line = statusFor(OPEN_WEBUI, [CUT, CUT, FORGOT])
  expect(line?.data).toMatch(/memory could not be reached/)
  expect(statusFor(OPEN_WEBUI, [CUT, CUT])?.data).toMatch(/oldest messages .* left out/)
})

test('tells that a model is blind to what was attached (C78)', () => {
  const unseen: Note = { did: 'changed', at: 0, why: 'media-unseen' }
  expect(statusFor(OPEN_WEBUI, [unseen])?.data).toMatch(/cannot see everything/)
})

test('says nothing where a user misses nothing', () => {
  expect(statusFor(OPEN_WEBUI, [])).toBeNull()
  expect(statusFor(OPEN_WEBUI, [{ did: 'changed', at: 0, why: 'output-too-old' }])).toBeNull()
})

test('is for nobody but a user of Open WebUI', () => {
  expect(statusFor(PLAIN_CLIENT, [FORGOT])).toBeNull()
  expect(statusFor({ ...OPEN_WEBUI, isTask: true }, [FORGOT])).toBeNull()
})
