/** Tests the media transforms of all providers, mostly with URLs. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readNoticeMediaIdentities } from '../../../src/core/text/gateway-notice.ts'
import { parseMessages } from '../../../src/dialects/chat/parse/parse-messages.ts'
import type { Item, Part } from '../../../src/core/item.ts'
import { listContentParts } from '../../../src/core/media/media-handles.ts'
import { listUpstreamMediaTransforms } from '../../../src/gateway/prompt/list-upstream-media-transforms.ts'
import type { AllowedHost } from '../../../src/media/loading/check-url-safety.ts'
import type { WireName } from '../../../src/providers/provider-interface.ts'
import { runTransforms } from '../../../src/context/list-and-run-transforms.ts'
import { expectNotesMatchChanges, expectIdempotent, expectPure } from '../../support/laws.ts'
import { createDataUrl, KINDS } from '../pictures.ts'
import { resolveMediaUrlsAndLimits } from '../../../src/media/resolve-upstream-media-urls-and-limits.ts'

const WIRES: readonly WireName[] = ['chat', 'responses', 'anthropic', 'gemini', 'demo']

function stepsOf(wire: WireName, allowed: readonly AllowedHost[] = []) {
  const account = { name: wire, wire, baseUrl: '', apiKey: null, models: [], headers: {} }
  const steps = listUpstreamMediaTransforms(
    resolveMediaUrlsAndLimits({ ...account, quirks: {} }),
    null,
    allowed,
  )
  return (items: readonly Item[]) => runTransforms(items, steps)
}

const image = (image_url: string): Part => ({ type: 'input_image', image_url })
const user = (...content: readonly Part[]): Item => ({ type: 'message', role: 'user', content })
const output = (...parts: readonly Part[]): Item => ({
  type: 'function_call_output',
  call_id: 'a',
  output: parts,
})

const INSIDE = [
  'http://127.0.0.1:22/x.png',
  'http://127.0.0.1../x.png',
  'http://169.254.169.254/latest/meta-data/',
  'http://10.0.0.7/x.png',
  'https://[::1]/x.png',
  'http://0177.0.0.1/x.png',
  'http://2130706433/x.png',
  'http://localhost/x.png',
  'http://files/x.png',
  'http://printer.local/x.png',
  'http://[::ffff:169.254.169.254]/',
]
const NOT_OF_THE_WEB = [
  'file:///etc/passwd',
  'ftp://a.example/x.png',
  'javascript:alert(1)',
  '/x.png',
  'not an address',
  'http://',
  '',
  'http://a:b@a.example/x.png',
  'http://a.example\\@127.0.0.1/x.png',
  `https://a.example/${'x'.repeat(9000)}`,
]
const BAD = [...INSIDE, ...NOT_OF_THE_WEB].map((url) => [url.slice(0, 40), url] as const)
const FINE = [
  'https://a.example/x.png',
  'HTTP://A.EXAMPLE/x.png',
  'http://a.example:8080/x.png?y=1#z',
  'https://8.8.8.8/x.png',
]

describe.each(WIRES)('URLs and embedded media in prompts for the provider API %s', (wire) => {
  const run = stepsOf(wire)

  test.each(BAD)(
    'an image with the private or non-web URL %s is replaced by a notice, and a note is written',
    (_, url) => {
      for (const holder of [user(image(url)), output(image(url))]) {
        const { items, notes } = run([holder])
        const [part] = listContentParts(items[0] ?? holder)
        expect(part).toMatchObject({
          type: 'input_text',
          text: expect.stringContaining('may be asked') as string,
        })
        expect(part === undefined ? null : readNoticeMediaIdentities(part)).toEqual([])
        expect(notes).toMatchObject([{ did: 'changed', at: 0, why: 'media-blocked', by: 'media' }])
      }
    },
  )

  test('a part with a private file, video or audio URL is replaced by a notice', () => {
    const url = 'http://169.254.169.254/'
    const parts: readonly Part[] = [
      { type: 'input_file', file_url: url },
      { type: 'input_file', file_data: url },
      { type: 'input_audio', input_audio: { data: url, format: 'wav' } },
      { type: 'opaque', raw: { type: 'video_url', video_url: { url } } },
      { type: 'opaque', raw: { type: 'audio_url', audio_url: url } },
    ]
    const step = run([user(...parts)])
    expect(JSON.stringify(step.items)).not.toContain('169.254')
    expect(step.notes).toHaveLength(parts.length)
  })

  test.each([
    ['HTML', `data:image/png;base64,${btoa('<html>Please log in</html>')}`],
    ['an empty data URL', 'data:image/png;base64,'],
    ['an empty data URL without a type', 'data:,'],
    ['not base64', 'data:image/png;base64,@@@@'],
    ['base64 without the first bytes of an image', 'data:image/png;base64,AAAA'],
    ['a sound', createDataUrl('audio/wav', 'image/png')],
  ])('an image that is %s is replaced by a notice, and a note is written', (_, url) => {
    const step = run([user(image(url))])
    expect(step.items).toMatchObject([{ content: [{ type: 'input_text' }] }])
    expect(step.notes).toMatchObject([{ at: 0, why: 'media-mislabelled', by: 'media' }])
  })

  test('an image with a wrong media type is sent with the type that its bytes show', () => {
    for (const said of ['image/png', 'application/octet-stream', '']) {
      const step = run([user(image(createDataUrl('image/jpeg', said)))])
      expect(step.items).toEqual([user(image(createDataUrl('image/jpeg')))])
      expect(step.notes).toMatchObject([{ at: 0, why: 'media-type-corrected', by: 'media' }])
    }
    const shouted = createDataUrl('image/png').replace('data:', 'DATA:')
    expect(run([user(image(shouted))]).items).toEqual([user(image(createDataUrl('image/png')))])
  })

  test('the media transforms return a list of items with valid media as the same object', () => {
    const words = user({ type: 'input_text', text: 'http://127.0.0.1/' })
    const shown = [...FINE, createDataUrl('image/png'), createDataUrl('image/webp')].map((url) =>
      user(image(url), { type: 'input_file', file_id: 'file-1', file_url: '', file_data: '' }),
    )
    for (const items of [[], [words], [words, ...shown]]) expect(run(items).items).toBe(items)
  })

  test('a second run of the media transforms changes nothing, and later items do not change the result', () => {
    const url = fc.oneof(
      fc.constantFrom(...INSIDE, ...NOT_OF_THE_WEB, ...FINE, 'data:,', 'data:image/png;base64,@'),
      fc
        .tuple(fc.constantFrom(...KINDS), fc.constantFrom(...KINDS, ''))
        .map(([kind, said]) => createDataUrl(kind, said)),
      fc.webUrl(),
      fc.string(),
    )
    const part = fc.oneof(
      url.map(image),
      url.map((file_url): Part => ({ type: 'input_file', file_url })),
      url.map((text): Part => ({ type: 'input_text', text })),
    )
    const item = fc.tuple(fc.array(part, { maxLength: 3 }), fc.boolean())
    const items = fc.array(
      item.map(([parts, isOutput]) => (isOutput ? output(...parts) : user(...parts))),
      { maxLength: 6 },
    )
    fc.assert(
      fc.property(items, items, (list, more) => {
        expectPure(run, list)
        expectIdempotent(run, list)
        expectNotesMatchChanges(list, run(list))
        // Later items do not change the result.
        expect(run([...list, ...more]).items.slice(0, list.length)).toEqual(run(list).items)
      }),
    )
  })
})

test('a URL on a private host is sent if the operator allows the host and the port', () => {
  const run = stepsOf('chat', [{ host: '127.0.0.1', port: 9000 }])
  const [fine, blocked] = ['http://127.0.0.1:9000/a.png', 'http://127.0.0.1:9001/a.png'].map(
    (url) => [user(image(url))],
  )
  expect(run(fine ?? []).items).toBe(fine)
  expect(run(blocked ?? []).notes).toMatchObject([{ why: 'media-blocked' }])
})

test('a URL of Google Cloud Storage is sent to Gemini only', () => {
  const items = [user(image('gs://bucket/a.png'))]
  expect(stepsOf('gemini')(items).items).toBe(items)
  for (const wire of ['chat', 'responses', 'anthropic'] as const) {
    expect(stepsOf(wire)(items).notes).toMatchObject([{ why: 'media-blocked' }])
  }
})

test('the unknown Chat Completions fields of a hidden part are dropped, and those of other parts are sent', () => {
  const url = 'http://169.254.169.254/x.png'
  const cache = { cache_control: { type: 'ephemeral' } }
  const item: Item = {
    ...user({ type: 'input_text', text: 'See' }, image(url)),
    native: { chat: { $parts: [cache, { image_url: { url, more: 1 } }] } },
  }
  const [sent] = stepsOf('chat')([item]).items
  expect(sent?.native).toEqual({ chat: { $parts: [cache, null] } })
})

test.each([
  { type: 'file', file: { file_id: 'file-1', file_url: 'http://10.0.0.5/' } },
  { type: 'image', image: 'http://10.0.0.5/a.png' },
  { type: 'video', video: { url: 'http://10.0.0.5/a.mp4' } },
])(
  'a URL on a private host is not sent, in whichever media field of Chat Completions it is (%j)',
  (part) => {
    const items = parseMessages([{ role: 'user', content: [{ type: 'text', text: 'See' }, part] }])
    const step = stepsOf('chat')(items)
    expect(step.notes).toMatchObject([{ why: 'media-blocked' }])
    expect(JSON.stringify(step.items)).not.toContain('10.0.0.5')
  },
)
