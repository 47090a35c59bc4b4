/**
 * Sets the clocks of gateways forward and back by an hour: by jumps while they answer, and as a difference between
 * two replicas. Nothing that lives is ended, and what a dead process left is ended within one lease.
 */
import { join } from 'node:path'
import { startChild, type ChildGateway } from '../support/child-gateway.ts'
import { createFaultList, type Faults } from './support/fault-list.ts'
import type { TortureContext, TorturePart } from './support/part-interface.ts'
import { pause } from './support/pause.ts'
import { readSseEvents } from './support/sse-events.ts'

const HOUR_MS = 3_600_000
const LEASE_MS = 3_000
/** The time in which a dead process's answers must have ended: one lease, and what a busy machine takes. */
const RECOVERY_MS = LEASE_MS * 2
const WORD_MS = 50

export const clocks: TorturePart = {
  name: 'clocks',
  description:
    'clocks that jump or differ by an hour, on SQLite and between two replicas on Postgres',
  rounds: 2,
  async run(context) {
    const faults = createFaultList('ended', 'unended', 'locked')
    let answers = 0
    for (let round = 0; round < context.rounds; round += 1) {
      const aheadMs = round % 2 === 0 ? HOUR_MS : -HOUR_MS
      const tried = await Promise.all([
        jumpOnSqlite(context, aheadMs, faults),
        differOnPostgres(context, aheadMs, faults),
      ])
      answers += tried[0] + tried[1]
      context.printProgress(`round ${round + 1}: ${answers} answers, ${faults.total()} faults`)
    }
    return { tried: `${context.rounds * 2} clock changes, ${answers} answers`, faults }
  },
}

function start(databaseUrl: string, aheadMs: number): Promise<ChildGateway> {
  const environment = {
    DATABASE_URL: databaseUrl,
    RUN_LEASE_SECONDS: String(LEASE_MS / 1000),
    TORTURE_CLOCK_MS: String(aheadMs),
    UPSTREAMS: JSON.stringify([
      { name: 'demo', wire: 'demo', models: ['demo'], quirks: { delayMs: WORD_MS } },
    ]),
  }
  return startChild(environment, [new URL('support/preload-clock.ts', import.meta.url)])
}

/** The clock of the only process jumps, and the process that follows it has another time. */
async function jumpOnSqlite(
  { folder, isBrief }: TortureContext,
  aheadMs: number,
  faults: Faults,
): Promise<number> {
  const url = `sqlite:${join(folder, `clock-${performance.now()}.db`)}`
  const gateway = await start(url, 0)
  const living = startAnswers(gateway, isBrief)
  await pause(LEASE_MS / 2)
  await gateway.request({ clockMs: aheadMs })
  await pause(LEASE_MS)
  await gateway.request({ clockMs: 0 })
  await checkLiving(living, `clock jumped by ${aheadMs / HOUR_MS} h, SQLite`, faults)
  const dead = await killDuringAnswers(gateway, isBrief)
  const successor = await start(url, aheadMs)
  await checkDead(
    successor,
    dead,
    `restart with a clock ${aheadMs / HOUR_MS} h ahead, SQLite`,
    faults,
  )
  await successor.kill('SIGKILL')
  return living.length + dead.answers.length
}

/** The clock of the second replica differs from that of the first. */
async function differOnPostgres(
  { createDatabase, isBrief }: TortureContext,
  aheadMs: number,
  faults: Faults,
): Promise<number> {
  const database = await createDatabase()
  const [one, other] = await Promise.all([start(database.url, 0), start(database.url, aheadMs)])
  const living = [...startAnswers(one, isBrief), ...startAnswers(other, isBrief)]
  await checkLiving(living, `two replicas ${aheadMs / HOUR_MS} h apart, Postgres`, faults)
  const dead = await killDuringAnswers(one, isBrief)
  await checkDead(
    other,
    dead,
    `the replica that remains is ${aheadMs / HOUR_MS} h ahead, Postgres`,
    faults,
  )
  await other.kill('SIGKILL')
  await database.drop()
  return living.length + dead.answers.length
}

/** An answer with its id, and the status in which it ends for its client. */
interface OpenAnswer {
  readonly name: string
  readonly id: Promise<string>
  readonly end: Promise<string>
}

const KINDS = {
  stream: { stream: true },
  'background stream': { stream: true, background: true },
  'background response': { background: true },
} as const

/** The answers take longer than a lease. */
function startAnswers({ url }: ChildGateway, isBrief: boolean): readonly OpenAnswer[] {
  const words = (1.5 * LEASE_MS) / WORD_MS
  const copies = isBrief ? 1 : 3
  return Object.entries(KINDS).flatMap(([name, more]) =>
    Array.from({ length: copies }, () => startAnswer(url, name, { ...more, ...question(words) })),
  )
}

function question(words: number): object {
  return { model: 'demo', store: true, input: `/repeat ${words} la` }
}

function startAnswer(url: string, name: string, body: object): OpenAnswer {
  let setId: (id: string) => void = () => undefined
  const id = new Promise<string>((resolve) => (setId = resolve))
  const read = async (): Promise<string> => {
    const response = await postResponse(url, body)
    if (!('stream' in body)) {
      const { id: found } = (await response.json()) as { readonly id: string }
      setId(found)
      return waitForEnd(url, found, performance.now() + 10 * LEASE_MS)
    }
    let end = 'no end'
    for await (const { type, response: state } of readSseEvents(response)) {
      if (type === 'response.created') setId(String(state?.['id']))
      if (/^response\.(completed|failed|incomplete)$/.test(String(type))) {
        end = `${String(state?.['status'])} ${JSON.stringify(state?.['error'])}`
      }
    }
    return end
  }
  return { name, id, end: read().catch((error: unknown) => String(error)) }
}

function postResponse(url: string, body: object): Promise<Response> {
  return fetch(`${url}/v1/responses`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
}

/** Returns the last status that was seen before the deadline. */
async function waitForEnd(url: string, id: string, deadline: number): Promise<string> {
  for (;;) {
    const response = await fetch(`${url}/v1/responses/${id}`)
    const { status, error } = (await response.json()) as {
      readonly status?: string
      readonly error?: unknown
    }
    const isOpen = status === 'queued' || status === 'in_progress'
    if (!isOpen || performance.now() > deadline) return `${status} ${JSON.stringify(error)}`
    await pause(50)
  }
}

async function checkLiving(
  living: readonly OpenAnswer[],
  when: string,
  faults: Faults,
): Promise<void> {
  for (const { name, end } of living) {
    const ended = await end
    if (!ended.startsWith('completed'))
      faults.add('ended', `${name}, ${when}: ${ended}`, name + when)
  }
}

interface DeadAnswers {
  readonly answers: readonly { readonly id: string; readonly name: string }[]
  /** A conversation to which the dead process was adding an answer. */
  readonly conversation: string
}

async function killDuringAnswers(gateway: ChildGateway, isBrief: boolean): Promise<DeadAnswers> {
  const { url } = gateway
  const response = await fetch(`${url}/v1/conversations`, { method: 'POST' })
  const { id: conversation } = (await response.json()) as { readonly id: string }
  const open = startAnswers(gateway, isBrief)
  const inside = startAnswer(url, 'in a conversation', {
    ...question(1000),
    stream: true,
    conversation,
  })
  const begun = [...open, inside].map(async ({ id, name }) => ({ id: await id, name }))
  const answers = await Promise.all(begun)
  await gateway.kill('SIGKILL')
  return { answers, conversation }
}

async function checkDead(
  { url }: ChildGateway,
  { answers, conversation }: DeadAnswers,
  when: string,
  faults: Faults,
): Promise<void> {
  const deadline = performance.now() + RECOVERY_MS
  // A background response may be answered again, which takes as long as before.
  const lastMoment = deadline + 3 * LEASE_MS
  const check = async ({ id, name }: DeadAnswers['answers'][number]): Promise<void> => {
    const status = await waitForEnd(url, id, name.startsWith('background') ? lastMoment : deadline)
    const isOpen = /^(queued|in_progress)/.test(status)
    if (isOpen) faults.add('unended', `${name} ${id}, ${when}: ${status}`, name + when)
  }
  await Promise.all(answers.map(check))
  for (;;) {
    const response = await postResponse(url, { model: 'demo', input: '/say Hi.', conversation })
    const text = await response.text()
    if (response.status === 200) return
    if (performance.now() > lastMoment)
      return faults.add('locked', `${conversation}, ${when}: ${text}`)
    await pause(50)
  }
}
