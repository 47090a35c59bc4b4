/**
 * Answers requests in every way in which an upstream can be broken: over each wire, for clients of both dialects,
 * streamed or not. The client gets exactly one end or one error; no request is sent twice; the process lives.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startChild } from '../support/child-gateway.ts'
import { PATHS, greetingRequest, type Dialect } from '../support/read-client-answer.ts'
import { FIXED_KINDS, RANDOM_KINDS, type BrokenAnswerKind } from './support/broken-answers.ts'
import { checkLog } from './support/check-log.ts'
import { createFaultList, type Faults } from './support/fault-list.ts'
import type { TorturePart } from './support/part-interface.ts'
import { forEachParallel } from './support/pause.ts'
import type { Random } from './support/random.ts'
import { startRawUpstream } from './support/raw-upstream.ts'

const MODELS = { chat: 'chat', responses: 'gpt', anthropic: 'claude', gemini: 'gemini' } as const
const DIALECTS: readonly Dialect[] = ['responses', 'chat']

/** The text of the complete answer to `greetingRequest`. */
const FULL_TEXT = 'You said “Servus”. Grüezi 🦊!'
const RANDOM_ATTEMPTS_PER_ROUND = 200
const MAX_ANSWER_MS = 20_000

interface Attempt {
  readonly kind: BrokenAnswerKind
  readonly wire: keyof typeof MODELS
  readonly dialect: Dialect
  readonly stream: boolean
  readonly number: number
}

export const upstream: TorturePart = {
  name: 'upstream',
  description: `${FIXED_KINDS.length + RANDOM_KINDS.length} kinds of broken upstream × 4 wires × 2 client dialects, streamed and not`,
  rounds: 20,
  async run({ rounds, random, folder, isBrief, printProgress }) {
    const faults = createFaultList('unended', 'repeated', 'lost', 'false', 'failed')
    const upstream = await startRawUpstream()
    const baseUrl = `http://127.0.0.1:${upstream.port}/v1`
    const accounts = Object.entries(MODELS).map(([wire, prefix]) => {
      return { name: wire, wire, models: [`${prefix}-*`], baseUrl, apiKey: 'sk-upstream' }
    })
    // With a slow database, answers arrive before their turns are stored.
    const faultFile = join(folder, 'fault')
    writeFileSync(faultFile, 'slow')
    const gateway = await startChild(
      {
        DATABASE_URL: `sqlite:${join(folder, 'upstream.db')}`,
        TORTURE_FAULT_FILE: faultFile,
        UPSTREAMS: JSON.stringify(accounts),
        UPSTREAM_HEADERS_TIMEOUT_SECONDS: '1',
        UPSTREAM_IDLE_TIMEOUT_SECONDS: '1',
      },
      [new URL('support/preload-sqlite.ts', import.meta.url)],
    )
    const tried = listAttempts(rounds, isBrief, random)
    let done = 0
    await forEachParallel(tried, 12, async (attempt) => {
      upstream.answers.set(attempt.number, (valid) => attempt.kind.make(valid, random))
      await checkAttempt(gateway.url, attempt, faults)
      upstream.answers.delete(attempt.number)
      done += 1
      if (done % 500 === 0) printProgress(`${done} of ${tried.length} answers`)
      if (!gateway.isAlive()) throw new Error(`The gateway ended: ${gateway.output().slice(-2000)}`)
    })
    // A request can be repeated behind its answer, too.
    for (const { kind, wire, number } of tried) {
      const arrivals = upstream.arrivals.get(number) ?? 0
      if (arrivals < 2 || kind.mayRepeat === true) continue
      faults.add('repeated', `"${kind.name}" over ${wire}: sent ${arrivals} times`, kind.name)
    }
    checkLog(gateway, faults)
    await gateway.kill('SIGKILL')
    await upstream.close()
    return { tried: `${tried.length.toLocaleString('en')} broken answers`, faults }
  },
}

/** Every listed kind for every wire and client, and random ones. A brief run tries a part of them. */
function listAttempts(rounds: number, isBrief: boolean, random: Random): readonly Attempt[] {
  const wires = Object.keys(MODELS) as Attempt['wire'][]
  const clients = DIALECTS.flatMap((dialect) => [
    { dialect, stream: true },
    { dialect, stream: false },
  ])
  const listed = FIXED_KINDS.flatMap((kind) =>
    wires.flatMap((wire) => clients.map((client) => ({ kind, wire, ...client }))),
  )
  const count = rounds * (isBrief ? 50 : RANDOM_ATTEMPTS_PER_ROUND)
  const others = Array.from({ length: count }, () => ({
    kind: random.pick(RANDOM_KINDS),
    wire: random.pick(wires),
    dialect: random.pick(DIALECTS),
    stream: random.below(5) > 0,
  }))
  const isTried = ({ kind }: { readonly kind: BrokenAnswerKind }): boolean =>
    !isBrief || (kind.isSlow !== true && random.below(10) === 0)
  return [...listed.filter(isTried), ...others].map((attempt, number) => ({ ...attempt, number }))
}

async function checkAttempt(url: string, attempt: Attempt, faults: Faults): Promise<void> {
  const { kind, wire, dialect, stream, number } = attempt
  const report = (fault: string, example: string): void =>
    faults.add(fault, `${name}: ${example}`, kind.name)
  const name = `"${kind.name}" over ${wire} for ${dialect}, ${stream ? 'streamed' : 'not streamed'}`
  const model = `${MODELS[wire]}-torture${number}`
  let answer: Answer
  try {
    const response = await fetch(url + PATHS[dialect], {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(greetingRequest(dialect, model, stream)),
      signal: AbortSignal.timeout(MAX_ANSWER_MS),
    })
    const body = await response.text()
    const isEvents = response.headers.get('content-type')?.startsWith('text/event-stream') === true
    answer = isEvents
      ? readEvents(body, dialect, dialect === wire)
      : readJson(response.status, body)
  } catch (error) {
    return report('unended', String(error))
  }
  if (answer.fault !== null) return report('unended', answer.fault)
  if (kind.expected === 'complete' && answer.text !== FULL_TEXT) {
    return report('lost', `"${answer.text}" ${answer.failure ?? ''}`)
  }
  const isWrong = answer.failure === null && answer.text !== FULL_TEXT
  if (isWrong && kind.changesText !== true) {
    report('false', `"${answer.text}" passes for the complete answer`)
  }
}

interface Answer {
  readonly text: string
  /** The message of the error; null for an answer that ends well. */
  readonly failure: string | null
  /** Why the answer is not valid; null for a valid one. */
  readonly fault: string | null
}

type JsonRecord = Readonly<Record<string, unknown>>

function readJson(status: number, body: string): Answer {
  const parsed = parseOrNull(body)
  if (parsed === null)
    return { text: '', failure: null, fault: `status ${status}, no JSON: ${body.slice(0, 200)}` }
  const { error, output, choices } = parsed as {
    readonly error?: { readonly message?: unknown } | null
    readonly output?: readonly { readonly type: string; readonly content?: readonly JsonRecord[] }[]
    readonly choices?: readonly { readonly message?: { readonly content?: unknown } }[]
  }
  // A body that is passed through may contain an `error` of another type beside a complete answer.
  if (status >= 400 || (output === undefined && choices === undefined)) {
    const isValid = typeof error?.message === 'string' && error.message !== ''
    return {
      text: '',
      failure: String(error?.message),
      fault: isValid ? null : `status ${status} without a message`,
    }
  }
  const parts = (output ?? []).flatMap(({ type, content = [] }) =>
    type === 'message' ? content : [],
  )
  const text =
    choices === undefined
      ? parts.map((part) => part['text']).join('')
      : choices[0]?.message?.content
  return { text: String(text ?? ''), failure: null, fault: null }
}

/** A chat stream that is passed through ends as the upstream ended it: with `[DONE]`, or a finish reason, or both. */
function readEvents(body: string, dialect: Dialect, isPassedThrough: boolean): Answer {
  const messages = body
    .split(/\r\n\r\n|\n\n|\r\r/)
    .map((frame) => frame.split(/\r\n|\n|\r/).filter((line) => line.startsWith('data:')))
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.map((line) => line.slice('data:'.length).trim()).join('\n'))
  const events = messages.filter((data) => data !== '[DONE]').map(parseOrNull)
  const dones = messages.length - events.length
  const read = dialect === 'responses' ? readResponseEvents(events) : readChatChunks(events)
  if (isPassedThrough && dialect === 'chat') return dones > 0 ? { ...read, fault: null } : read
  if (read.fault !== null) return read
  return dones === 1 ? read : { ...read, fault: `${dones} times [DONE]` }
}

function readResponseEvents(events: readonly (JsonRecord | null)[]): Answer {
  const ends = events.filter((event) =>
    /^response\.(completed|failed|incomplete)$/.test(String(event?.['type'])),
  )
  const deltas = events.filter((event) => event?.['type'] === 'response.output_text.delta')
  const [end] = ends
  const failure =
    end?.['type'] === 'response.completed'
      ? null
      : JSON.stringify((end?.['response'] as JsonRecord | undefined)?.['error'])
  return {
    text: deltas.map((event) => String(event?.['delta'])).join(''),
    failure: failure ?? null,
    fault:
      ends.length === 1 && events.at(-1) === end
        ? null
        : `${ends.length} ends: ${JSON.stringify(events.at(-1)).slice(0, 300)}`,
  }
}

function readChatChunks(events: readonly (JsonRecord | null)[]): Answer {
  const errors = events.filter((event) => (event?.['error'] ?? null) !== null)
  const choices = events.flatMap((event) => {
    const list = event?.['choices']
    return Array.isArray(list) ? (list.slice(0, 1) as readonly JsonRecord[]) : []
  })
  const finishes = choices.filter((choice) => (choice?.['finish_reason'] ?? null) !== null)
  const [error] = errors.map((event) => event?.['error'] as JsonRecord)
  const isEnded = errors.length === 1 || (errors.length === 0 && finishes.length > 0)
  return {
    text: choices
      .map((choice) => String((choice?.['delta'] as JsonRecord | undefined)?.['content'] ?? ''))
      .join(''),
    failure: error === undefined ? null : String(error['message']),
    fault: isEnded ? null : `${errors.length} errors and ${finishes.length} finish reasons`,
  }
}

function parseOrNull(text: string): JsonRecord | null {
  try {
    return JSON.parse(text) as JsonRecord
  } catch {
    return null
  }
}
