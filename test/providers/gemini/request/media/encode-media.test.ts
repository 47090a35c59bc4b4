import { expect, test } from 'vitest'
import type { Part } from '../../../../../src/core/item.ts'
import { call, image, message, output, encode } from '../../kit.ts'

function encodePart(part: Part, quirks = {}) {
  const { body, codes } = encode([message('user', part)], {}, quirks)
  const contents = body['contents'] as unknown as { parts: unknown[] }[]
  return { part: contents[0]?.parts[0], codes: codes }
}

test.each<[string, Part, string]>([
  ['an image', image('AAAA', 'image/webp'), 'image/webp'],
  ['an image by another name', image('AAAA', 'image/jpg'), 'image/jpeg'],
  ['a sound', { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }, 'audio/wav'],
  [
    'a document',
    { type: 'input_file', file_data: 'data:application/pdf;base64,AAAA' },
    'application/pdf',
  ],
  [
    'a document without a head',
    { type: 'input_file', file_data: 'AAAA', filename: 'a.pdf' },
    'application/pdf',
  ],
  [
    'a vague document',
    {
      type: 'input_file',
      file_data: 'data:application/octet-stream;base64,AAAA',
      filename: 'a.CSV',
    },
    'text/csv',
  ],
  [
    'a source file',
    { type: 'input_file', file_data: 'data:application/json;base64,AAAA' },
    'text/plain',
  ],
  [
    'a film',
    {
      type: 'opaque',
      raw: { type: 'video_url', video_url: { url: 'data:video/mp4;base64,AAAA' } },
    },
    'video/mp4',
  ],
])('the Gemini encoder sends %s as base64', (_, part, mimeType) => {
  expect(encodePart(part)).toEqual({ part: { inlineData: { mimeType, data: 'AAAA' } }, codes: [] })
})

test('the URL of a medium is sent to Gemini if Google can load it', () => {
  const youtube = 'https://www.youtube.com/watch?v=x'
  expect(
    encodePart({ type: 'opaque', raw: { type: 'video_url', video_url: youtube } }).part,
  ).toEqual({
    fileData: { fileUri: youtube },
  })
  expect(encodePart({ type: 'input_file', file_url: 'gs://bucket/a.pdf' }).part).toEqual({
    fileData: { fileUri: 'gs://bucket/a.pdf', mimeType: 'application/pdf' },
  })
  expect(encodePart({ type: 'input_file', file_id: 'files/abc' }).part).toEqual({
    fileData: { fileUri: 'https://generativelanguage.googleapis.com/v1beta/files/abc' },
  })
  const remote: Part = { type: 'input_image', image_url: 'https://example.org/a.png?x=1' }
  expect(encodePart(remote, { remoteUrls: true }).part).toEqual({
    fileData: { fileUri: 'https://example.org/a.png?x=1', mimeType: 'image/png' },
  })
})

test.each<[Part, string, RegExp]>([
  [
    { type: 'input_image', image_url: 'https://example.org/a.png' },
    'media-remote',
    /image.*address/,
  ],
  [{ type: 'input_image', image_url: 'nonsense' }, 'media-remote', /image/],
  [{ type: 'input_image', image_url: 'https://youtube.com.evil.org/' }, 'media-remote', /image/],
  [image('AAAA', 'image/gif'), 'media-unsupported', /image.*cannot be read/],
  [{ type: 'input_image', image_url: 'data:image/png,raw' }, 'media-unsupported', /image/],
  [{ type: 'input_image' }, 'media-unsupported', /image/],
  [
    { type: 'input_file', file_id: 'file-123', filename: 'a.pdf' },
    'media-unresolved',
    /file "a\.pdf"/,
  ],
  [{ type: 'input_file', file_data: 'AAAA', filename: 'a.svg' }, 'media-unsupported', /a\.svg/],
  [{ type: 'opaque', raw: { type: 'input_smell' } }, 'unknown-part', /input_smell/],
])('the Gemini encoder sends a notice instead of the medium %j', (part, why, pattern) => {
  const { part: notice, codes } = encodePart(part)
  expect((notice as { text: string }).text).toMatch(pattern)
  expect(codes).toEqual([why])
})

test("an image's level of detail gets a note for Gemini, unless it is the default", () => {
  expect(encodePart({ ...image('AAAA'), detail: 'low' } as Part).codes).toEqual(['image-detail'])
  expect(encodePart({ ...image('AAAA'), detail: 'auto' } as Part).codes).toEqual([])
})

test('a Gemini request above the size limit contains only the latest media', () => {
  const big = 'A'.repeat(40)
  const items = [
    message('user', image(big)),
    call('a', 'shoot', {}, { thoughtSignature: 'S' }),
    output('a', [image(big)]),
    message('user', image(big), image('B'.repeat(10))),
  ]
  const { body, notes } = encode(items, {}, { inlineLimitBytes: 100 })
  expect(notes).toEqual([
    { did: 'dropped', at: 0, why: 'media-too-large', detail: 'image', by: 'gemini' },
  ])
  expect(JSON.stringify(body).match(/A{40}/g)).toHaveLength(2)
  expect(JSON.stringify(body)).toContain('The image that was here was left out')
})
