/**
 * An upstream for the suite: the strict test services for all four wires, with a model whose answers are numbered.
 * It records for each request which answers the request contains, and whose reasoning came back with them.
 */
import type { ServerResponse } from 'node:http'
import { anthropic } from '../../support/services/anthropic.ts'
import { chat } from '../../support/services/chat.ts'
import { gemini } from '../../support/services/gemini.ts'
import { responses } from '../../support/services/responses.ts'
import {
  createIssuedSeals,
  type IssuedSeals,
  type Service,
} from '../../support/services/service.ts'
import { answerJson, startUpstream, type Received } from '../../support/upstream.ts'
import type { JsonObject } from '../../../src/core/json/json.ts'
import { answerQuestion, answerTask, isSlow, isTask } from './model.ts'
import { findMarkers } from './markers.ts'
import { pause } from './processes.ts'

/** One model for each wire; every one of them gets all of its reasoning back. */
export const MODELS = {
  responses: 'gpt-5',
  anthropic: 'claude-sonnet-5',
  gemini: 'gemini-3.8-flash',
  chat: 'vendor/model',
} as const

export type Wire = keyof typeof MODELS
export const WIRES = Object.keys(MODELS) as readonly Wire[]

export interface RecordedRequest {
  readonly wire: Wire
  readonly isTask: boolean
  readonly question: string
  /** The number of the answer to this request; null for a task or a refused request. */
  readonly answer: number | null
  /** The numbers of the answers that the request contains, in order. */
  readonly answers: readonly number[]
  /** The numbers of the answers whose reasoning the request contains, in order. */
  readonly reasoning: readonly number[]
  readonly toolResults: number
  /** Everything in the request that a model must not see. */
  readonly markers: readonly string[]
  /** The error that it was refused with. */
  readonly refusal: string | null
  readonly body: JsonObject
}

export interface SuiteUpstream {
  /** The settings of a gateway with this upstream. */
  readonly environment: Readonly<Record<string, string>>
  readonly requests: readonly RecordedRequest[]
  /** The requests that were closed before their answer was complete. */
  readonly hungUp: () => ReadonlySet<RecordedRequest>
  readonly close: () => Promise<void>
}

const SERVICES: readonly Service[] = [chat, responses, anthropic, gemini]

export async function startSuiteUpstream(): Promise<SuiteUpstream> {
  const issued = createIssuedSeals()
  const makers = new Map<string, number>()
  const requests: RecordedRequest[] = []
  const hungUp = new Set<RecordedRequest>()
  let number = 0

  const behave = async (response: ServerResponse, received: Received): Promise<void> => {
    const { path, headers, text } = received
    const body = received.json as JsonObject
    const request = { path, headers, body }
    const service = SERVICES.find(({ serves }) => serves(path))
    if (received.method !== 'POST' || service === undefined) {
      return void answerJson(404, {})(response, received)
    }
    const refusal = service.findViolation(request) ?? service.findInvalidSeal(request, issued)
    const asked = service.read(request)
    const ofTask = isTask(asked)
    if (refusal === null) number += 1
    const own = number
    const record: RecordedRequest = {
      wire: service.name,
      isTask: ofTask,
      question: asked.questions.at(-1) ?? '',
      answer: refusal === null && !ofTask ? own : null,
      answers: findInOrder(text, /(?:Answer|says answer) (\d+)/g, Number),
      reasoning: findInOrder(text, SEAL, (seal) => makers.get(seal) ?? null),
      toolResults: [...text.matchAll(TOOL_RESULT)].length,
      markers: findMarkers(text),
      refusal: refusal === null ? null : JSON.stringify(refusal.body),
      body,
    }
    requests.push(record)
    void received.aborted.then(() => hungUp.add(record))
    if (refusal !== null) return void answerJson(refusal.status, refusal.body)(response, received)
    const answer = ofTask ? answerTask() : answerQuestion(asked, own)
    const whole = service.buildBody(answer, request, {
      number: own,
      issued: rememberMaker(issued, makers, own),
    })
    if (!service.wantsStream(request)) return void answerJson(200, whole)(response, received)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const frame of service.buildStream(whole, 'plain')) {
      if (response.destroyed) return
      response.write(frame)
      await pause(isSlow(asked) ? 1000 : 5)
    }
    response.end()
  }

  const upstream = await startUpstream(behave)
  const accounts = WIRES.map((wire) => ({
    name: wire,
    wire,
    baseUrl: upstream.url,
    apiKey: 'sk-upstream',
    models: [MODELS[wire]],
    quirks: wire === 'chat' ? { profile: 'openrouter' } : {},
  }))
  return {
    environment: { UPSTREAMS: JSON.stringify(accounts) },
    requests,
    hungUp: () => hungUp,
    close: upstream.close,
  }
}

const TOOL_RESULT =
  /"type":"tool_result"|"type":"function_call_output"|"functionResponse"|"role":"tool"/g

/** Encrypted content or a signature of one of the test services, such as `gAAAA…==`. */
const SEAL = /(?:gAAAA|Er|or|Ck|Ct)[\w-]{43}==/g

/** Returns what the matches stand for, in their order, each only where it first occurs. */
function findInOrder(
  text: string,
  pattern: RegExp,
  resolve: (match: string) => number | null,
): readonly number[] {
  const found = [...text.matchAll(pattern)].map((match) => resolve(match[1] ?? match[0]))
  return [...new Set(found.filter((one) => one !== null))]
}

/** Records for each seal which answer it was issued with. */
function rememberMaker(
  issued: IssuedSeals,
  makers: Map<string, number>,
  answer: number,
): IssuedSeals {
  return {
    ...issued,
    seal(maker, what) {
      const seal = issued.seal(maker, what)
      makers.set(seal, answer)
      return seal
    },
  }
}
