/** Tests which media are sent and which a notice replaces. */
import { describe, expect, test } from 'vitest'
import type { Part } from '../../../../src/core/item.ts'
import { assistant, contentAt, encode, user } from '../kit.ts'

function encodeUserPart(part: Part): { readonly block: unknown; readonly why: readonly string[] } {
  const { body, codes } = encode([user(part)])
  const [block] = contentAt(body, 0) as readonly unknown[]
  return { block, why: codes }
}

const base64 = (text: string) => Buffer.from(text).toString('base64')

describe('images in Anthropic requests', () => {
  test.each<readonly [string, object]>([
    ['data:image/png;base64,AAAA', { type: 'base64', media_type: 'image/png', data: 'AAAA' }],
    ['data:image/JPG;base64,AAAA', { type: 'base64', media_type: 'image/jpeg', data: 'AAAA' }],
    ['https://example.com/a.png', { type: 'url', url: 'https://example.com/a.png' }],
  ])('an image with the URL %s is sent to Anthropic', (image_url, source) => {
    expect(encodeUserPart({ type: 'input_image', image_url })).toEqual({
      block: { type: 'image', source },
      why: [],
    })
  })

  test.each([
    { image_url: 'data:image/svg+xml;base64,AAAA' },
    { image_url: 'data:image/png,AAAA' },
    { image_url: 'blob:1' },
    {},
  ])('the image %j, which Anthropic cannot read, becomes a notice in the request', (image) => {
    const { block, why } = encodeUserPart({ type: 'input_image', ...image })
    expect(block).toMatchObject({
      type: 'text',
      text: expect.stringContaining('not shown') as string,
    })
    expect(why).toEqual(['media-unsupported'])
  })

  test('an image with the file id of another service becomes a notice in an Anthropic request', () => {
    expect(encodeUserPart({ type: 'input_image', file_id: 'file-1' }).why).toEqual([
      'file-of-another-provider',
    ])
  })

  test("an image's level of detail is dropped with a note for Anthropic, unless it is auto", () => {
    const image_url = 'https://example.com/a.png'
    expect(encodeUserPart({ type: 'input_image', image_url, detail: 'high' }).why).toEqual([
      'image-detail-ignored',
    ])
    expect(encodeUserPart({ type: 'input_image', image_url, detail: 'auto' }).why).toEqual([])
  })

  test("an assistant's image is sent to Anthropic in a user message after the assistant message", () => {
    const message = assistant('Here:')
    const image = { type: 'input_image', image_url: 'https://example.com/a.png' } as const
    const { body, codes } = encode([
      user('Draw.'),
      { ...message, content: [...message.content, image] },
    ])
    expect(body['messages']).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: [{ text: 'Here:' }] },
      { role: 'user', content: [{ type: 'image' }] },
    ])
    expect(codes).toEqual(['assistant-media-moved'])
  })
})

describe('files in Anthropic requests', () => {
  test.each<readonly [string, Part, object]>([
    [
      'a PDF file',
      { type: 'input_file', file_data: 'data:application/pdf;base64,JVBE', filename: 'a.pdf' },
      { source: { type: 'base64', media_type: 'application/pdf', data: 'JVBE' }, title: 'a.pdf' },
    ],
    [
      'a file of base64 without a media type',
      { type: 'input_file', file_data: 'JVBE' },
      { source: { type: 'base64', media_type: 'application/pdf', data: 'JVBE' } },
    ],
    [
      'a text file',
      { type: 'input_file', file_data: base64('grüezi'), filename: 'a.txt' },
      { source: { type: 'text', media_type: 'text/plain', data: 'grüezi' }, title: 'a.txt' },
    ],
    [
      'a file with a URL',
      { type: 'input_file', file_url: 'https://example.com/a.pdf' },
      { source: { type: 'url', url: 'https://example.com/a.pdf' } },
    ],
  ])('%s is sent to Anthropic as a document', (_, part, document) => {
    expect(encodeUserPart(part)).toEqual({ block: { type: 'document', ...document }, why: [] })
  })

  test.each<readonly [string, Part, string]>([
    [
      'that is no valid UTF-8 text',
      { type: 'input_file', file_data: 'data:text/plain;base64,/w==' },
      'media-unsupported',
    ],
    [
      'of an unreadable type',
      { type: 'input_file', file_data: 'AAAA', filename: 'a.docx' },
      'media-unsupported',
    ],
    ['of another service', { type: 'input_file', file_id: 'file-1' }, 'file-of-another-provider'],
  ])('a file %s becomes a notice in an Anthropic request', (_, part, code) => {
    expect(encodeUserPart(part)).toMatchObject({ block: { type: 'text' }, why: [code] })
  })
})

test('audio and unknown message parts become notices in an Anthropic request', () => {
  const audio: Part = { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }
  expect(encodeUserPart(audio)).toMatchObject({
    block: {
      text: '[Gateway notice: A medium (audio) that was here is not shown: this model cannot read it.]',
    },
    why: ['media-unsupported'],
  })
  expect(encodeUserPart({ type: 'opaque', raw: { type: 'input_video' } })).toMatchObject({
    block: {
      text: '[Gateway notice: A medium (input_video) that was here is not shown: this model cannot read it.]',
    },
  })
})
