/**
 * Runs all four services as one real HTTP server, with accounts for a gateway. Each request is first checked
 * by the rules of its wire and rejected with that wire's error, then answered by the model. Rejections are
 * recorded, so that tests can check that there were none.
 */
import type { JsonObject } from '../../../src/core/json/json.ts'
import { answerJson, startUpstream, type Received, type Upstream } from '../upstream.ts'
import { anthropic } from './anthropic.ts'
import { chat } from './chat.ts'
import { gemini } from './gemini.ts'
import { answerAsModel } from './simulated-model.ts'
import { responses } from './responses.ts'
import { createIssuedSeals, type AnswerStyle, type ErrorResponse, type Service } from './service.ts'

export interface Services extends Upstream {
  /** The settings of a gateway with these upstreams. */
  readonly environment: Readonly<Record<string, string>>
  readonly refusals: ErrorResponse[]
  /** Reasoning that was ignored without an error. */
  readonly dropped: string[]
  manner: AnswerStyle
  /** False for generated conversations, whose encrypted content no service issued. */
  checksSeals: boolean
  /** The number of bytes in each write; null for one event per write. */
  cut: number | null
  /** Changes the frames of a stream before they are sent; null for no change. */
  spoil: ((frames: readonly string[]) => readonly string[]) | null
  /** Restores the model's answers after a test has replaced them. */
  readonly behaveWell: () => void
}

const SERVICES: readonly Service[] = [chat, responses, anthropic, gemini]

export async function startServices(): Promise<Services> {
  const issued = createIssuedSeals()
  const refusals: ErrorResponse[] = []
  let number = 0
  const upstream = await startUpstream()

  const behave = async (response: Parameters<Upstream['behave']>[0], received: Received) => {
    const { path, headers, json } = received
    const request = { path, headers, body: json as JsonObject }
    const service = SERVICES.find(({ serves }) => serves(path))
    if (service === undefined) return answerJson(404, {})(response, received)
    const refusal =
      service.findViolation(request) ??
      (services.checksSeals ? service.findInvalidSeal(request, issued) : null)
    if (refusal !== null) {
      refusals.push(refusal)
      return answerJson(refusal.status, refusal.body)(response, received)
    }
    number += 1
    const spoken = answerAsModel(service.read(request))
    const whole = service.buildBody(spoken, request, { number, issued })
    if (!service.wantsStream(request)) return answerJson(200, whole)(response, received)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const told = service.buildStream(whole, services.manner)
    for (const piece of cutUp(services.spoil?.(told) ?? told, services.cut)) {
      response.write(piece)
      // Otherwise the socket would join the writes.
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
