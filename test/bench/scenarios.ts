/**
 * What is measured, how, and for how long. The quick form measures the same things for a shorter
 * time, and fewer chunks where a chunk has its own pace.
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

/** A job, but for the subject that it is for. */
type Load =
  | Pick<Job & { kind: 'closed' }, 'kind' | 'connections' | 'until'>
  | Pick<Job & { kind: 'open' }, 'kind' | 'perSecond' | 'forMs'>
  | Pick<Job & { kind: 'hold' }, 'kind' | 'connections'>

/** Measured once and first, in processes that have done next to nothing yet. */
export const MEMORY: Scenario = {
  name: '500 open streams, idle',
  subjects: ['floor', 'pass-through', 'everything', 'portkey'],
  traffic: chat(1, { kind: 'hold' }),
  load: { kind: 'hold', connections: 500 },
  figures: [residentMemory(everythingOn(1.3))],
}

/** A round, in order. */
export function scenarios(quick: boolean): readonly Scenario[] {
  return [...requests(quick), ...streams(quick)]
}

/** Enough of everything that what is measured later is compiled code. */
export function warmUp(quick: boolean): readonly Scenario[] {
  const forMs = quick ? 300 : 1500
  const shapes: readonly [Traffic, Load][] = [
    [chat(1, { kind: 'json' }), closed(32, { forMs: forMs * 4, atMost: quick ? 6000 : 20_000 })],
    [chat(200, { kind: 'json' }), closed(4, { forMs: forMs / 2 })],
    [chat(1, stream(100)), closed(16, { forMs })],
    [chat(1, stream(20, 100)), closed(60, { atMost: 60 })],
  ]
  return shapes.map(([traffic, load], at) => {
    // The translation is measured by its streams only.
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
      load: closed(64, { forMs: quick ? 400 : 2000 }),
      figures: [cpuPerRequest(everythingOn(4)), requestsPerSecond],
    },
    {
      name: 'small request, one at a time',
      subjects: ALL,
      traffic: small,
      load: closed(1, { forMs: quick ? 200 : 1000 }),
      figures: [addedTotal],
    },
    {
      name: '200 KB request, 8 at a time',
      subjects: PROXIES,
      traffic: chat(200, { kind: 'json' }),
      load: closed(8, { forMs: 1500, atMost: quick ? 100 : 600 }),
      figures: [cpuPerRequest(everythingOn(10))],
    },
    {
      name: '400 KB request, one at a time',
      subjects: ALL,
      traffic: chat(400, { kind: 'json' }),
      load: closed(1, { forMs: 1500, atMost: quick ? 30 : 150 }),
      figures: [cpuPerRequest(), addedTotal],
    },
  ]
}

function streams(quick: boolean): readonly Scenario[] {
  // As long as an answer is: what it costs to begin and to end one has figures of its own.
  const [rhythm, perSecond] = quick ? [150, 100] : [400, 50]
  const many = quick ? 500 : 2000
  const forMs = quick ? 150 : 1000
  const translation = { subject: 'translated', against: 'pass-through', atMost: 2.5 } as const
  return [
    {
      name: `stream of ${rhythm} chunks, ${perSecond} a second, 100 at a time`,
      subjects: [...PROXIES, 'translated'],
      traffic: chat(1, stream(rhythm, perSecond)),
      load: closed(100, { atMost: 100 }),
      figures: [cpuPerThousandChunks(rhythm, everythingOn(1.35), translation)],
    },
    {
      name: `burst of ${many} chunks, 100 at a time`,
      subjects: [...PROXIES, 'translated'],
      traffic: chat(1, stream(many)),
      load: closed(100, { atMost: 100 }),
      figures: [cpuPerThousandChunks(many)],
    },
    ...[100, 2000].map((chunks) => ({
      name: `burst of ${chunks} chunks, one at a time`,
      subjects: ALL,
      traffic: chat(1, stream(chunks)),
      load: closed(1, { forMs }),
      figures: [addedFirstByte(), addedTotal, cpuPerThousandChunks(chunks)],
    })),
    {
      name: '60 new streams a second',
      subjects: ALL,
      traffic: chat(1, stream(10, 50)),
      load: { kind: 'open', perSecond: 60, forMs: quick ? 600 : 2500 },
      figures: [firstByte(everythingOn(2.5)), addedFirstByte()],
    },
    remembered(quick),
    ...(quick ? [] : [thinking]),
  ]
}

/**
 * A chat of a client that keeps only text, with a model that thinks. Memory looks for 20 turns, puts
 * their reasoning back, and keeps the new one; without it, the same chat passes through.
 */
function remembered(quick: boolean): Scenario {
  const goal = { subject: 'pass-through', against: 'memory-off', atMost: 1 } as const
  return {
    name: 'chat of 20 turns, 30 new streams a second',
    subjects: ['direct', 'floor', 'pass-through', 'memory-off'],
    traffic: { ...chat(1, { ...stream(10, 100), thoughts: 5 }), turnsBefore: 20 },
    load: { kind: 'open', perSecond: 30, forMs: quick ? 1000 : 3000 },
    figures: [addedFirstByte(goal), cpuPerRequest()],
  }
}

/** The same as models do it. What can be done while they think should cost nothing here. */
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

function closed(connections: number, until: Partial<Until>): Load {
  return {
    kind: 'closed',
    connections,
    until: { forMs: 60_000, atLeast: 12, atMost: 1e9, ...until },
  }
}
