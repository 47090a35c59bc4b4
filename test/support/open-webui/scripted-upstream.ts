/**
 * A model that says what it was told to, over the wires of the test services and under their laws: a
 * request that the real service would refuse is refused, also one that brings back a seal in the wrong
 * place. What it is to say is planned for a question and a model, and every request that it gets is kept.
 */
import type { ServerResponse } from 'node:http'
import type { JsonObject } from '../../../src/core/json/json.ts'
import { anthropic } from '../services/anthropic.ts'
import { chat } from '../services/chat.ts'
import { responses } from '../services/responses.ts'
import {
  newIssued,
  object,
  objects,
  type Place,
  type Request,
  type Service,
} from '../services/service.ts'
import { answerJson, startUpstream, type Received } from '../upstream.ts'
import type { Planned, ScriptBeat } from './script.ts'

export interface ScriptedUpstream {
  /** The environment of a gateway that has it behind it. */
  readonly environment: Readonly<Record<string, string>>
  readonly plan: (question: string, model: string, rounds: readonly Planned[]) => void
  /** Forgets what was planned for a question and never asked. */
  readonly unplan: (question: string, model: string) => void
  /** Why requests with a question were refused, in the words of the service. Says it once. */
  readonly refusalsOf: (question: string) => readonly string[]
  readonly tasks: JsonObject[]
  readonly close: () => Promise<void>
}

const SERVICES: readonly Service[] = [responses, anthropic, chat]

/**
 * Nobody thinks in no time at all: it pauses before each item, by default for as long as a gateway
 * needs to have the last one written down.
 */
export async function startScriptedUpstream(thinkingMs = 40): Promise<ScriptedUpstream> {
  const issued = newIssued()
  const planned = new Map<string, Planned[]>()
  const refusals = new Map<string, string[]>()
  const tasks: JsonObject[] = []
  let number = 0

  const behave = async (response: ServerResponse, received: Received): Promise<void> => {
    const { path, headers, json } = received
    const body = json as JsonObject
    const request = { path, headers, body }
    const service = SERVICES.find(({ serves }) => serves(path)) ?? responses
    const refusal = service.breach(request) ?? service.forgery(request, issued)
    const asked = service.read(request).questions.join('\n')
    if (refusal !== null) {
      const question = newestQuestion(asked)
      refusals.set(question, [...(refusals.get(question) ?? []), JSON.stringify(refusal.body)])
      return void answerJson(refusal.status, refusal.body)(response, received)
    }
    number += 1
    const isTask = /<chat_history>|set of responses/.test(asked)
    const next = isTask ? null : planned.get(keyOf(asked, String(body['model'])))?.shift()
    if (next === undefined) return void answerJson(500, unplanned(asked))(response, received)
    if (next === null) tasks.push(body)
    else next.received = body
    if (next?.isRefused === true) return void answerJson(400, REFUSED)(response, received)
    const whole = wholeAnswer(next?.beats ?? TASK_ANSWER, service, request, { number, issued })
    if (!service.wantsStream(request)) return void answerJson(200, whole)(response, received)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const frames = service.stream(whole, 'plain').filter(isLawful(whole))
    if (next === null) return void response.end(frames.join(''))
    await perform(response, itemsIn(frames), next, thinkingMs)
    if (next.stall === null) return
    await received.aborted
    next.givenUp.resolve()
  }

  const upstream = await startUpstream(behave)
  return {
    environment: { UPSTREAMS: JSON.stringify(accountsAt(upstream.url)) },
    plan(question, model, rounds) {
      const key = keyOf(question, model)
      planned.set(key, [...(planned.get(key) ?? []), ...rounds])
    },
    unplan: (question, model) => void planned.delete(keyOf(question, model)),
    refusalsOf(question) {
      const known = refusals.get(newestQuestion(question)) ?? []
      refusals.delete(newestQuestion(question))
      return known
    },
    tasks,
    close: upstream.close,
  }
}

const TASK_ANSWER: readonly ScriptBeat[] = [
  { type: 'text', text: '{"title": "❄️ Fog", "tags": ["fog"], "follow_ups": ["And now?"]}' },
]

const REFUSED = {
  error: { type: 'invalid_request_error', code: 'refused', message: 'Not today.', param: null },
}

function unplanned(asked: string): JsonObject {
  const message = `Nobody planned an answer to ${newestQuestion(asked)}.`
  return { error: { type: 'server_error', code: null, message, param: null } }
}

function keyOf(asked: string, model: string): string {
  return `${newestQuestion(asked)} ${model}`
}

/** Every question of a story has a number of its own. */
function newestQuestion(asked: string): string {
  return [...asked.matchAll(/\bQ\d+\b/g)].at(-1)?.[0] ?? 'nothing'
}

function wholeAnswer(
  beats: readonly ScriptBeat[],
  service: Service,
  request: Request,
  place: Place,
): JsonObject {
  const said = beats.flatMap((beat) => (beat.type === 'hosted' ? [] : [beat]))
  return withHosted(
    service.whole({ beats: said, isCut: false }, request, place),
    beats,
    place.number,
  )
}

/** A tool of the provider's own is among the items of its answer, where it was used. */
function withHosted(whole: JsonObject, beats: readonly ScriptBeat[], number: number): JsonObject {
  if (!beats.some(({ type }) => type === 'hosted')) return whole
  const said = [...objects(whole['output'])]
  const output = beats.map((beat, at) =>
    beat.type === 'hosted'
      ? {
          id: `ws_${number}_${at}`,
          type: 'web_search_call',
          status: 'completed',
          action: { type: 'search', query: beat.query },
        }
      : (said.shift() ?? {}),
  )
  return { ...whole, output }
}

/** What the service would say of arguments is not said of an item that has none. */
function isLawful(whole: JsonObject): (frame: string) => boolean {
  const hosted = new Set(
    objects(whole['output'])
      .filter(({ type }) => type === 'web_search_call')
      .map(({ id }) => id),
  )
  return (frame) => {
    const { type, item_id: id } = dataOf(frame)
    return !(String(type).includes('arguments') && hosted.has(id))
  }
}

function dataOf(frame: string): JsonObject {
  const line = frame.split('\n').find((one) => one.startsWith('data: {'))
  return line === undefined ? {} : (JSON.parse(line.slice('data: '.length)) as JsonObject)
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}

/** The frames of a stream, item by item; what stands around them goes with the one before it. */
function itemsIn(frames: readonly string[]): readonly (readonly string[])[] {
  const items: string[][] = [[]]
  let current: string | number = -1
  for (const frame of frames) {
    const index = placeOf(dataOf(frame))
    if (
      index !== null &&
      index !== current &&
      (typeof index === 'string' || index > Number(current))
    ) {
      current = index
      items.push([frame])
    } else items.at(-1)?.push(frame)
  }
  return items
}

/** A chat numbers nothing but its calls: what it tells are items in the order of these. */
function placeOf({ output_index: own, index = own, choices }: JsonObject): number | string | null {
  if (typeof index === 'number') return index
  const delta = object(objects(choices)[0]?.['delta'])
  const [call] = objects(delta['tool_calls'])
  if (call !== undefined) return `call ${Number(call['index'])}`
  return ['reasoning_content', 'content'].find((name) => String(delta[name] ?? '') !== '') ?? null
}

/** Tells an answer to its end, or to where it falls silent. */
async function perform(
  response: ServerResponse,
  items: readonly (readonly string[])[],
  next: Planned,
  thinkingMs: number,
): Promise<void> {
  const { stall } = next
  const end = stall === null ? items.length : stall + 1
  for (const [at, frames] of items.slice(0, end).entries()) {
    // The first item follows the head of the answer at once.
    if (at > 1) await pause(thinkingMs)
    response.write(frames.join(''))
  }
  if (stall === null) return void response.end()
  if (stall > 0) await pause(thinkingMs)
  fallSilent(response, items[end] ?? [], next)
}

/** Tells the first piece of an item, and then nothing more. */
function fallSilent(response: ServerResponse, frames: readonly string[], next: Planned): void {
  for (const frame of frames) {
    response.write(frame)
    const told = dataOf(frame)
    const { delta = objects(told['choices'])[0]?.['delta'] } = told
    if (delta === undefined) continue
    const { text, thinking, content, reasoning_content: thought } = object(delta)
    const part = typeof delta === 'string' ? delta : (text ?? thinking ?? content ?? thought ?? '')
    next.toldPart = String(part)
    break
  }
  next.stalled.resolve()
}

function accountsAt(baseUrl: string): readonly JsonObject[] {
  const account = (name: string, wire: string, models: readonly string[]) => ({
    name,
    wire,
    models,
    baseUrl,
    apiKey: 'sk-upstream',
  })
  return [
    account('openai', 'responses', ['gpt-*']),
    account('anthropic', 'anthropic', ['claude-*']),
    { ...account('glm', 'chat', ['glm-*']), quirks: { reasoningField: 'reasoning_content' } },
    { ...account('deepseek', 'chat', ['deepseek-*']), quirks: { profile: 'deepseek' } },
  ]
}
