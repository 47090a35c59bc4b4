/**
 * All four services as one real HTTP server, with the accounts by which a gateway reaches them. A
 * request is first held to the laws of its wire, and refused in that wire's own words; then the
 * model answers. What was refused is kept, so that a test can say that nothing was.
 */
import type { JsonObject } from '../../../src/core/json/json.ts'
import { answerJson, startUpstream, type Received, type Upstream } from '../upstream.ts'
import { anthropic } from './anthropic.ts'
import { chat } from './chat.ts'
import { gemini } from './gemini.ts'
import { speak } from './model.ts'
import { responses } from './responses.ts'
import { newIssued, type Manner, type Refusal, type Service } from './service.ts'

export interface Services extends Upstream {
  /** The environment of a gateway that has them behind it. */
  readonly environment: Readonly<Record<string, string>>
  readonly refusals: Refusal[]
  /** Reasoning that was passed over without a word. */
  readonly dropped: string[]
  manner: Manner
  /** Whether it looks at what it has sealed. Made-up conversations hold made-up seals. */
  checksSeals: boolean
  /** How many bytes are sent at once; `null` for event by event. */
  cut: number | null
  /** What becomes of a stream on its way; `null` for nothing. */
  spoil: ((frames: readonly string[]) => readonly string[]) | null
  /** Answers as the model again, after a test has set another behaviour. */
  readonly behaveWell: () => void
}

const SERVICES: readonly Service[] = [chat, responses, anthropic, gemini]

export async function startServices(): Promise<Services> {
  const issued = newIssued()
  const refusals: Refusal[] = []
  let number = 0
  const upstream = await startUpstream()

  const behave = async (response: Parameters<Upstream['behave']>[0], received: Received) => {
    const { path, headers, json } = received
    const request = { path, headers, body: json as JsonObject }
    const service = SERVICES.find(({ serves }) => serves(path))
    if (service === undefined) return answerJson(404, {})(response, received)
    const refusal =
      service.breach(request) ?? (services.checksSeals ? service.forgery(request, issued) : null)
    if (refusal !== null) {
      refusals.push(refusal)
      return answerJson(refusal.status, refusal.body)(response, received)
    }
    number += 1
    const spoken = speak(service.read(request))
    const whole = service.whole(spoken, request, { number, issued })
    if (!service.wantsStream(request)) return answerJson(200, whole)(response, received)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const told = service.stream(whole, services.manner)
    for (const piece of cutUp(services.spoil?.(told) ?? told, services.cut)) {
      response.write(piece)
      // Else the socket would join what is meant to come apart.
      if (services.cut !== null) await new Promise((resolve) => setImmediate(resolve))
    }
    response.end()
  }

  const own: Omit<Services, keyof Upstream> = {
    environment: { UPSTREAMS: JSON.stringify(accountsAt(upstream.url)) },
    refusals,
    dropped: issued.dropped,
    manner: 'plain',
    checksSeals: true,
    cut: null,
    spoil: null,
    behaveWell: () => void (services.behave = behave),
  }
  const services: Services = Object.assign(upstream, own)
  services.behaveWell()
  return services
}

function cutUp(frames: readonly string[], size: number | null): readonly Uint8Array[] {
  const bytes = frames.map((frame) => Buffer.from(frame))
  if (size === null) return bytes
  const all = Buffer.concat(bytes)
  return Array.from({ length: Math.ceil(all.length / size) }, (_, at) =>
    all.subarray(at * size, (at + 1) * size),
  )
}

function accountsAt(baseUrl: string): readonly JsonObject[] {
  const account = (name: string, wire: string, models: readonly string[], quirks = {}) => ({
    name,
    wire,
    models,
    quirks,
    baseUrl,
    apiKey: 'sk-upstream',
  })
  return [
    account('openai', 'responses', ['gpt-*']),
    account('anthropic', 'anthropic', ['claude-*']),
    account('gemini', 'gemini', ['gemini-*']),
    account('chat', 'chat', ['chat-*']),
    account('deepseek', 'chat', ['deepseek-*'], { profile: 'deepseek' }),
    account('strict', 'chat', ['strict-*'], {
      strictAlternation: true,
      developerRole: false,
      prefixCompletion: false,
    }),
    account('openrouter', 'chat', ['*/*'], { profile: 'openrouter' }),
    { name: 'demo', wire: 'demo', models: ['demo'], quirks: { delayMs: 0 } },
  ]
}
