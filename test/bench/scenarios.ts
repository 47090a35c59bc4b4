/**
 * The scenarios, their load and their duration. The quick form measures the same for a shorter time, with
 * fewer chunks in paced streams.
 */
import {
  addedFirstByte,
  addedTotal,
  cpuPerRequest,
  cpuPerThousandChunks,
  everythingOn,
  firstByte,
  requestsPerSecond,
  residentMemory,
} from './figures.ts'
import type { Figure } from './figures.ts'
import type { Job, Until } from './job.ts'
import type { SubjectName } from './subjects.ts'
import type { AnswerKind, StreamKind, Traffic } from './traffic.ts'

export interface Scenario {
  readonly name: string
  readonly subjects: readonly SubjectName[]
  readonly traffic: Traffic
  readonly load: Load
  readonly figures: readonly Figure[]
}

/** A job without its subject. */
type Load =
  | Pick<Job & { kind: 'closed' }, 'kind' | 'connections' | 'until'>
  | Pick<Job & { kind: 'open' }, 'kind' | 'perSecond' | 'forMs'>
  | Pick<Job & { kind: 'hold' }, 'kind' | 'connections'>

/** Runs once and first, in processes that have done almost nothing. */
export const MEMORY: Scenario = {
  name: '500 open streams, idle',
  subjects: ['floor', 'pass-through', 'everything', 'portkey'],
  traffic: chat(1, { kind: 'hold' }),
  load: { kind: 'hold', connections: 500 },
  figures: [residentMemory(everythingOn(1.3))],
}

/** Returns the scenarios of a round in order. */
export function scenarios(quick: boolean): readonly Scenario[] {
  return [...requests(quick), ...streams(quick)]
}

/** Runs each kind of load once, so that only compiled code is measured later. */
export function warmUp(quick: boolean): readonly Scenario[] {
  const forMs = quick ? 300 : 1500
  const shapes: readonly [Traffic, Load][] = [
    [
      chat(1, { kind: 'json' }),
      closedLoop(32, { forMs: forMs * 4, atMost: quick ? 6000 : 20_000 }),
    ],
    [chat(200, { kind: 'json' }), closedLoop(4, { forMs: forMs / 2 })],
    [chat(1, stream(100)), closedLoop(16, { forMs })],
    [chat(1, stream(20, 100)), closedLoop(60, { atMost: 60 })],
  ]
  return shapes.map(([traffic, load], at) => {
    // The translation is measured with streams only.
    const translated = traffic.answer.kind === 'stream' ? (['translated'] as const) : []
    const subjects = [...PROXIES, 'memory-off' as const, ...translated]
    return { name: `warm-up ${at + 1}`, subjects, traffic, load, figures: [] }
  })
}

const PROXIES = ['floor', 'pass-through', 'everything', 'portkey'] as const
const ALL = ['direct', ...PROXIES] as const

function requests(quick: boolean): readonly Scenario[] {
  const small = chat(1, { kind: 'json' })
  return [
    {
      name: 'small request, 64 at a time',
      subjects: ALL,
      traffic: small,
      load: closedLoop(64, { forMs: quick ? 400 : 2000 }),
      figures: [cpuPerRequest(everythingOn(4)), requestsPerSecond],
    },
    {
      name: 'small request, one at a time',
      subjects: ALL,
      traffic: small,
      load: closedLoop(1, { forMs: quick ? 200 : 1000 }),
      figures: [addedTotal],
    },
    {
      name: '200 KB request, 8 at a time',
      subjects: PROXIES,
      traffic: chat(200, { kind: 'json' }),
      load: closedLoop(8, { forMs: 1500, atMost: quick ? 100 : 600 }),
      figures: [cpuPerRequest(everythingOn(10))],
    },
    {
      name: '400 KB request, one at a time',
      subjects: ALL,
      traffic: chat(400, { kind: 'json' }),
      load: closedLoop(1, { forMs: 1500, atMost: quick ? 30 : 150 }),
      figures: [cpuPerRequest(), addedTotal],
    },
  ]
}

function streams(quick: boolean): readonly Scenario[] {
  // The streams have the length of a typical answer; starting and ending one has figures of its own.
  const [rhythm, perSecond] = quick ? [150, 100] : [400, 50]
  const many = quick ? 500 : 2000
  const forMs = quick ? 150 : 1000
  const translation = { subject: 'translated', against: 'pass-through', atMost: 2.5 } as const
  return [
    {
      name: `stream of ${rhythm} chunks, ${perSecond} a second, 100 at a time`,
      subjects: [...PROXIES, 'translated'],
      traffic: chat(1, stream(rhythm, perSecond)),
      load: closedLoop(100, { atMost: 100 }),
      figures: [cpuPerThousandChunks(rhythm, everythingOn(1.35), translation)],
    },
    {
      name: `burst of ${many} chunks, 100 at a time`,
      subjects: [...PROXIES, 'translated'],
      traffic: chat(1, stream(many)),
      load: closedLoop(100, { atMost: 100 }),
      figures: [cpuPerThousandChunks(many)],
    },
    ...[100, 2000].map((chunks) => ({
      name: `burst of ${chunks} chunks, one at a time`,
      subjects: ALL,
      traffic: chat(1, stream(chunks)),
      load: closedLoop(1, { forMs }),
      figures: [addedFirstByte(), addedTotal, cpuPerThousandChunks(chunks)],
    })),
    {
      name: '60 new streams a second',
      subjects: ALL,
      traffic: chat(1, stream(10, 50)),
      load: { kind: 'open', perSecond: 60, forMs: quick ? 600 : 2500 },
      figures: [firstByte(everythingOn(2.5)), addedFirstByte()],
    },
    recallScenario(quick),
    ...(quick ? [] : [thinking]),
  ]
}

/**
 * A chat of a client that keeps only text, with a reasoning model: the gateway looks up 20 turns, recalls
 * their reasoning and stores the new turn. Without recall, the same chat is passed through.
 */
function recallScenario(quick: boolean): Scenario {
  const goal = { subject: 'pass-through', against: 'memory-off', atMost: 1 } as const
  return {
    name: 'chat of 20 turns, 30 new streams a second',
    subjects: ['direct', 'floor', 'pass-through', 'memory-off'],
    traffic: { ...chat(1, { ...stream(10, 100), thoughts: 5 }), turnsBefore: 20 },
    load: { kind: 'open', perSecond: 30, forMs: quick ? 1000 : 3000 },
    figures: [addedFirstByte(goal), cpuPerRequest()],
  }
}

/** The same with a pause, as models have. Work during the pause should not delay the first byte. */
const thinking: Scenario = {
  name: '60 new streams a second, after 50 ms',
  subjects: ALL,
  traffic: chat(1, stream(10, 50, 50)),
  load: { kind: 'open', perSecond: 60, forMs: 2500 },
  figures: [addedFirstByte()],
}

function chat(requestKb: Traffic['requestKb'], answer: AnswerKind): Traffic {
  return { api: 'chat', store: false, requestKb, answer }
}

function stream(chunks: number, perSecond = 0, thinkMs = 0): StreamKind {
  return { kind: 'stream', chunks, perSecond, thinkMs, thoughts: 0 }
}

function closedLoop(connections: number, until: Partial<Until>): Load {
  return {
    kind: 'closed',
    connections,
    until: { forMs: 60_000, atLeast: 12, atMost: 1e9, ...until },
  }
}
