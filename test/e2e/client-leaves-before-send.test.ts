/**
 * Clients that leave while their request is still being prepared: the gateway sends nothing to an upstream
 * for them.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { createFileBytes } from '../media/pictures.ts'
import { startMediaServer, type MediaServer } from '../support/media-server.ts'
import { useGatewayWithServices } from '../support/services/gateway-with-services.ts'

const PNG = createFileBytes('image/png', 3000)
const MODEL = 'gemini-2.5-pro'

let server: MediaServer
let release: () => void
beforeAll(async () => void (server = await startMediaServer()))
afterAll(() => server.close())
const setup = useGatewayWithServices(() => ({
  MEDIA_FETCH: 'auto',
  MEDIA_FETCH_ALLOW: server.host,
}))
beforeEach(() => {
  setup.services.received.length = 0
  server.requests.length = 0
  const released = new Promise<void>((resolve) => (release = resolve))
  server.paths.set('/slow.png', (response) => {
    void released.then(() => response.writeHead(200, { 'content-type': 'image/png' }).end(PNG))
  })
})

/** Leaves while the gateway loads an image, then lets the image arrive. */
async function leave(path: string, body: object): Promise<void> {
  const client = new AbortController()
  const asking = fetch(setup.gateway.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: client.signal,
  })
  await vi.waitFor(() => expect(server.requests).toHaveLength(1))
  client.abort()
  await expect(asking).rejects.toThrow('abort')
  // Waits until the gateway has noticed.
  await new Promise((resolve) => setTimeout(resolve, 50))
  release()
  await new Promise((resolve) => setTimeout(resolve, 150))
}

describe.each([true, false])(
  'a client that disconnects while media of its request are loaded (streamed: %s)',
  (stream) => {
    test('a chat whose client has disconnected causes no upstream request', async () => {
      const image = {
        type: 'image_url',
        image_url: { url: `${server.url}/slow.png?chat-${stream}` },
      }
      const messages = [{ role: 'user', content: [{ type: 'text', text: 'What?' }, image] }]
      await leave('/v1/chat/completions', { model: MODEL, stream, messages })
      expect(setup.services.received).toEqual([])
    })

    test("a request whose client has disconnected releases its conversation's lock and leaves no work running", async () => {
      const { id: conversation } = await setup.gateway.openai.conversations.create()
      const image = { type: 'input_image', image_url: `${server.url}/slow.png?response-${stream}` }
      const input = [{ role: 'user', content: [{ type: 'input_text', text: 'What?' }, image] }]
      await leave('/v1/responses', { model: MODEL, stream, conversation, input })
      expect(setup.services.received).toEqual([])
      const next = await setup.gateway.openai.responses.create({
        model: MODEL,
        conversation,
        input: 'Hi',
      })
      expect(next.status).toBe('completed')
    })
  },
)
