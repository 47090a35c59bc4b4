/** Media in messages: what is sent, and what a notice stands for. */
import { describe, expect, test } from 'vitest'
import type { Part } from '../../../../src/core/item.ts'
import { assistant, contentOf, encoded, user } from '../kit.ts'

function sent(part: Part): { readonly block: unknown; readonly why: readonly string[] } {
  const { body, why } = encoded([user(part)])
  const [block] = contentOf(body, 0) as readonly unknown[]
  return { block, why }
}

const base64 = (text: string) => Buffer.from(text).toString('base64')

describe('an image', () => {
  test.each<readonly [string, object]>([
    ['data:image/png;base64,AAAA', { type: 'base64', media_type: 'image/png', data: 'AAAA' }],
    ['data:image/JPG;base64,AAAA', { type: 'base64', media_type: 'image/jpeg', data: 'AAAA' }],
    ['https://example.com/a.png', { type: 'url', url: 'https://example.com/a.png' }],
  ])('%s is sent', (image_url, source) => {
    expect(sent({ type: 'input_image', image_url })).toEqual({
      block: { type: 'image', source },
      why: [],
    })
  })

  test.each([
    { image_url: 'data:image/svg+xml;base64,AAAA' },
    { image_url: 'data:image/png,AAAA' },
    { image_url: 'blob:1' },
    {},
  ])('%j becomes a notice', (image) => {
    const { block, why } = sent({ type: 'input_image', ...image })
    expect(block).toMatchObject({
      type: 'text',
      text: expect.stringContaining('not shown') as string,
    })
    expect(why).toEqual(['media-unsupported'])
  })

  test('of a file that was uploaded elsewhere becomes a notice', () => {
    expect(sent({ type: 'input_image', file_id: 'file-1' }).why).toEqual([
      'file-of-another-provider',
    ])
  })

  test('loses its detail, unless that says nothing', () => {
    const image_url = 'https://example.com/a.png'
    expect(sent({ type: 'input_image', image_url, detail: 'high' }).why).toEqual([
      'image-detail-ignored',
    ])
    expect(sent({ type: 'input_image', image_url, detail: 'auto' }).why).toEqual([])
  })

  test('in an assistant message follows it as user input', () => {
    const said = assistant('Here:')
    const image = { type: 'input_image', image_url: 'https://example.com/a.png' } as const
    const { body, why } = encoded([user('Draw.'), { ...said, content: [...said.content, image] }])
    expect(body['messages']).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: [{ text: 'Here:' }] },
      { role: 'user', content: [{ type: 'image' }] },
    ])
    expect(why).toEqual(['assistant-media-moved'])
  })
})

describe('a file', () => {
  test.each<readonly [string, Part, object]>([
    [
      'a PDF',
      { type: 'input_file', file_data: 'data:application/pdf;base64,JVBE', filename: 'a.pdf' },
      { source: { type: 'base64', media_type: 'application/pdf', data: 'JVBE' }, title: 'a.pdf' },
    ],
    [
      'bare base64',
      { type: 'input_file', file_data: 'JVBE' },
      { source: { type: 'base64', media_type: 'application/pdf', data: 'JVBE' } },
    ],
    [
      'text',
      { type: 'input_file', file_data: base64('grüezi'), filename: 'a.txt' },
      { source: { type: 'text', media_type: 'text/plain', data: 'grüezi' }, title: 'a.txt' },
    ],
    [
      'an address',
      { type: 'input_file', file_url: 'https://example.com/a.pdf' },
      { source: { type: 'url', url: 'https://example.com/a.pdf' } },
    ],
  ])('as %s is a document', (_, part, document) => {
    expect(sent(part)).toEqual({ block: { type: 'document', ...document }, why: [] })
  })

  test.each<readonly [string, Part, string]>([
    [
      'not text',
      { type: 'input_file', file_data: 'data:text/plain;base64,/w==' },
      'media-unsupported',
    ],
    [
      'not readable',
      { type: 'input_file', file_data: 'AAAA', filename: 'a.docx' },
      'media-unsupported',
    ],
    ['elsewhere', { type: 'input_file', file_id: 'file-1' }, 'file-of-another-provider'],
  ])('that is %s becomes a notice', (_, part, code) => {
    expect(sent(part)).toMatchObject({ block: { type: 'text' }, why: [code] })
  })
})

test('sound, and what nobody knows, becomes a notice', () => {
  const audio: Part = { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }
  expect(sent(audio)).toMatchObject({
    block: {
      text: '[Gateway notice: A medium (audio) that was here is not shown: this model cannot read it.]',
    },
    why: ['media-unsupported'],
  })
  expect(sent({ type: 'opaque', raw: { type: 'input_video' } })).toMatchObject({
    block: {
      text: '[Gateway notice: A medium (input_video) that was here is not shown: this model cannot read it.]',
    },
  })
})
