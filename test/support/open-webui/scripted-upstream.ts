/**
 * An upstream that answers with scripts over the wires of the test services and under their rules: it rejects
 * invalid requests, also encrypted content in the wrong position. Scripts are planned by question and model,
 * and every request is recorded.
 */
import type { ServerResponse } from 'node:http'
import type { JsonObject } from '../../../src/core/json/json.ts'
import { anthropic } from '../services/anthropic.ts'
import { chat } from '../services/chat.ts'
import { responses } from '../services/responses.ts'
import {
  createIssuedSeals,
  object,
  objects,
  type AnswerContext,
  type Request,
  type Service,
} from '../services/service.ts'
import { answerJson, startUpstream, type Received } from '../upstream.ts'
import type { PlannedAnswer, ScriptPart } from './script.ts'

export interface ScriptedUpstream {
  /** The settings of a gateway with this upstream. */
  readonly environment: Readonly<Record<string, string>>
  readonly plan: (question: string, model: string, rounds: readonly PlannedAnswer[]) => void
  /** Removes a plan whose question was never sent. */
  readonly unplan: (question: string, model: string) => void
  /** Returns the errors for requests with a question, and clears them. */
  readonly refusalsOf: (question: string) => readonly string[]
  readonly tasks: JsonObject[]
  readonly close: () => Promise<void>
}

const SERVICES: readonly Service[] = [responses, anthropic, chat]

/** The upstream pauses before each item, by default as long as a gateway needs to store the one before. */
export async function startScriptedUpstream(thinkingMs = 40): Promise<ScriptedUpstream> {
  const issued = createIssuedSeals()
  const planned = new Map<string, PlannedAnswer[]>()
  const refusals = new Map<string, string[]>()
  const tasks: JsonObject[] = []
  let number = 0

  const behave = async (response: ServerResponse, received: Received): Promise<void> => {
    const { path, headers, json } = received
    const body = json as JsonObject
    const request = { path, headers, body }
    const service = SERVICES.find(({ serves }) => serves(path)) ?? responses
    const refusal = service.findViolation(request) ?? service.findInvalidSeal(request, issued)
    const asked = service.read(request).questions.join('\n')
    if (refusal !== null) {
      const question = newestQuestion(asked)
      refusals.set(question, [...(refusals.get(question) ?? []), JSON.stringify(refusal.body)])
      return void answerJson(refusal.status, refusal.body)(response, received)
    }
    number += 1
    const isTask = /<chat_history>|set of responses/.test(asked)
    const next = isTask ? null : planned.get(keyOf(asked, String(body['model'])))?.shift()
    if (next === undefined) return void answerJson(500, unplannedError(asked))(response, received)
    if (next === null) tasks.push(body)
    else next.received = body
    if (next?.isRefused === true) return void answerJson(400, REFUSED)(response, received)
    const whole = wholeAnswer(next?.parts ?? TASK_ANSWER, service, request, { number, issued })
    if (!service.wantsStream(request)) return void answerJson(200, whole)(response, received)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const frames = service.buildStream(whole, 'plain').filter(isValidFrame(whole))
    if (next === null) return void response.end(frames.join(''))
    await sendAnswer(response, itemsIn(frames), next, thinkingMs)
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

const TASK_ANSWER: readonly ScriptPart[] = [
  { type: 'text', text: '{"title": "❄️ Fog", "tags": ["fog"], "follow_ups": ["And now?"]}' },
]

const REFUSED = {
  error: { type: 'invalid_request_error', code: 'refused', message: 'Not today.', param: null },
}

function unplannedError(asked: string): JsonObject {
  const message = `Nobody planned an answer to ${newestQuestion(asked)}.`
  return { error: { type: 'server_error', code: null, message, param: null } }
}

function keyOf(asked: string, model: string): string {
  return `${newestQuestion(asked)} ${model}`
}

/** Every question of a session has a unique number. */
function newestQuestion(asked: string): string {
  return [...asked.matchAll(/\bQ\d+\b/g)].at(-1)?.[0] ?? 'nothing'
}

function wholeAnswer(
  parts: readonly ScriptPart[],
  service: Service,
  request: Request,
  place: AnswerContext,
): JsonObject {
  const said = parts.flatMap((part) => (part.type === 'hosted' ? [] : [part]))
  return withHosted(
    service.buildBody({ parts: said, isCut: false }, request, place),
    parts,
    place.number,
  )
}

/** Adds the calls of provider tools to the output. */
function withHosted(whole: JsonObject, parts: readonly ScriptPart[], number: number): JsonObject {
  if (!parts.some(({ type }) => type === 'hosted')) return whole
  const said = [...objects(whole['output'])]
  const output = parts.map((part, at) =>
    part.type === 'hosted'
      ? {
          id: `ws_${number}_${at}`,
          type: 'web_search_call',
          status: 'completed',
          action: { type: 'search', query: part.query },
        }
      : (said.shift() ?? {}),
  )
  return { ...whole, output }
}

/** Drops frames for call arguments of items that have none. */
function isValidFrame(whole: JsonObject): (frame: string) => boolean {
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

/** Splits a stream into the frames of each item; other frames belong to the item before. */
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

/** A chat stream numbers only its calls, so other items are numbered by their kind. */
function placeOf({ output_index: own, index = own, choices }: JsonObject): number | string | null {
  if (typeof index === 'number') return index
  const delta = object(objects(choices)[0]?.['delta'])
  const [call] = objects(delta['tool_calls'])
  if (call !== undefined) return `call ${Number(call['index'])}`
  return ['reasoning_content', 'content'].find((name) => String(delta[name] ?? '') !== '') ?? null
}

/** Sends an answer to its end, or to the point where it stops. */
async function sendAnswer(
  response: ServerResponse,
  items: readonly (readonly string[])[],
  next: PlannedAnswer,
  thinkingMs: number,
): Promise<void> {
  const { stall } = next
  const end = stall === null ? items.length : stall + 1
  for (const [at, frames] of items.slice(0, end).entries()) {
    // The first item is sent without a pause after the start.
    if (at > 1) await pause(thinkingMs)
    response.write(frames.join(''))
  }
  if (stall === null) return void response.end()
  if (stall > 0) await pause(thinkingMs)
  sendFirstPiece(response, items[end] ?? [], next)
}

/** Sends the first piece of an item, then nothing. */
function sendFirstPiece(
  response: ServerResponse,
  frames: readonly string[],
  next: PlannedAnswer,
): void {
  for (const frame of frames) {
    response.write(frame)
    const told = dataOf(frame)
    const { delta = objects(told['choices'])[0]?.['delta'] } = told
    if (delta === undefined) continue
    const { text, thinking, content, reasoning_content: thought } = object(delta)
    const part = typeof delta === 'string' ? delta : (text ?? thinking ?? content ?? thought ?? '')
    next.sentText = String(part)
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
