/**
 * Asks an upstream, and goes on asking it for as long as it calls tools of the house: these are answered
 * here, and it is asked again with what it has said and their outputs. Whoever reads the reply reads one
 * answer. It looks like that of any other upstream: a call that can be taken back, a body that flows, a
 * decoder for it. What flows are ticks; at each the decoder yields what was heard meanwhile.
 *
 * Where the house is called beside tools of the client, the answer ends as the client expects it, and
 * both outputs are there in the next request. After `MAX_ROUNDS` it ends in any case.
 */
import type { Failure, StreamEvent } from '../conversation/event.ts'
import type { FunctionCallOutput } from '../conversation/item.ts'
import { failureOf, GatewayError } from '../errors.ts'
import { unanswered } from '../house-tools/answer-house-calls.ts'
import { joinRounds, type HeldRound, type JoinedRounds } from '../house-tools/join-rounds.ts'
import type { Caller } from '../keys.ts'
import { asGatewayError } from '../mistake.ts'
import { readAnswerEvents } from '../stream/read-answer-events.ts'
import { NOTHING, type Stage } from '../stream/stage.ts'
import type { Call, Flow, Sink } from '../transport/transport.ts'
import type { Answer } from './answer.ts'
import { askedAgain, type Round } from './asked-again.ts'
import { ask, type Asked, type Asking } from './attempts.ts'
import { mediaOfOutputs } from './media-of-outputs.ts'
import { outputsFor } from './outputs-for.ts'
import type { Prepared } from './prepare.ts'
import type { World } from '../world.ts'

/** How often a model is asked again within one answer. */
const MAX_ROUNDS = 8

/** For whom, and under which name the answer is kept. */
export interface Asker {
  readonly caller: Caller
  readonly turnId: string
  /** Is told of what goes on behind the answer. */
  readonly after: (work: Promise<unknown>) => void
}

export async function askWithHouse(asking: Asking, asker: Asker, world: World): Promise<Answer> {
  const first = await ask(asking, world)
  const { house } = first.prepared
  return house.length === 0 ? first : goneOnWith(first, asking, asker, world)
}

/** One answer on its way. */
interface Journey {
  readonly first: Asked
  readonly asking: Asking
  readonly asker: Asker
  readonly world: World
  readonly answer: JoinedRounds
  /** What was sent, round by round, and what it has come to. */
  readonly sent: Prepared[]
  readonly rounds: Round[]
  /** What was heard since the last tick. */
  heard: StreamEvent[]
  /** What is being read. */
  reader: Stage<Uint8Array, StreamEvent> | null
  newest: Call
  flow: Flow
  isPaused: boolean
  isCancelled: boolean
  refusal: GatewayError | null
}

function goneOnWith(first: Asked, asking: Asking, asker: Asker, world: World): Answer {
  const { prepared, call } = first
  const journey: Journey = {
    first,
    asking,
    asker,
    world,
    answer: joinRounds(asker.turnId, namesIn(prepared), prepared.items),
    sent: [prepared],
    rounds: [],
    heard: [],
    reader: null,
    newest: call,
    flow: STILL,
    isPaused: false,
    isCancelled: false,
    refusal: null,
  }
  const provider: Prepared['provider'] = {
    ...prepared.provider,
    speaks: () => null,
    decode: () => ({ push: () => taken(journey), end: () => lastOf(journey) }),
    decodeWhole: () => [],
  }
  const reply = { ...first.reply, flow: (sink: Sink) => flowOf(journey, sink) }
  const cancel = (): void => {
    journey.isCancelled = true
    journey.newest.cancel()
  }
  return {
    prepared: { ...prepared, provider },
    call: { reply: Promise.resolve(reply), cancel },
    reply,
    sent: () => journey.sent,
    refusal: () => journey.refusal,
  }
}

function namesIn({ house }: Prepared): readonly string[] {
  return house.map(({ tool }) => tool.name)
}

const STILL: Flow = { pause: () => undefined, resume: () => undefined }

function flowOf(journey: Journey, sink: Sink): Flow {
  read(journey, journey.first, sink)
  return {
    pause() {
      journey.isPaused = true
      journey.flow.pause()
    },
    resume() {
      journey.isPaused = false
      journey.flow.resume()
    },
  }
}

/** One round, from its first byte to its last event. What the upstream sends after that is let go by. */
function read(journey: Journey, { prepared, reply }: Asked, sink: Sink): void {
  const reader = readAnswerEvents(prepared)
  journey.reader = reader
  const isRunning = (): boolean => journey.reader === reader
  const hear = (events: readonly StreamEvent[]): void => {
    tell(journey, journey.answer.hear(events), sink)
    if (journey.answer.isOver()) {
      journey.reader = null
      return sink.end()
    }
    const round = journey.answer.held()
    if (round === null) return
    journey.reader = null
    // Nobody holds back any more what nobody waits for.
    journey.flow.resume()
    void goOn(journey, prepared, round, sink)
  }
  const attempt = (readOn: () => readonly StreamEvent[]): void => {
    if (!isRunning()) return
    try {
      hear(readOn())
    } catch (error) {
      failed(journey, asGatewayError(error, journey.world.log).failure, sink)
      journey.newest.cancel()
    }
  }
  journey.flow = reply.flow({
    chunk: (bytes) => attempt(() => reader.push(bytes)),
    end: () => attempt(() => reader.end()),
    failed(failure) {
      if (isRunning()) failed(journey, failure, sink)
    },
  })
  if (journey.isPaused) journey.flow.pause()
}

async function goOn(
  journey: Journey,
  prepared: Prepared,
  round: HeldRound,
  sink: Sink,
): Promise<void> {
  const { answer, world } = journey
  try {
    const { houseCalls, finish } = round
    const goesOn = finish === 'stop' && !isLastOf(journey)
    const outputs = goesOn
      ? await outputsFor(houseCalls, journey.first.prepared, prepared, journey.asker, world)
      : unanswered(houseCalls)
    tell(journey, answer.put(outputs), sink)
    if (isLeft(journey)) return sink.failed(LEFT)
    if (round.callsOthers || !goesOn) {
      if (isLastOf(journey)) world.log('warn', 'house-called-too-often')
      tell(journey, answer.end(), sink)
      return sink.end()
    }
    const next = await askAgain(journey, prepared, round, outputs)
    answer.next(namesIn(next.prepared))
    read(journey, next, sink)
  } catch (error) {
    if (error instanceof GatewayError) journey.refusal = error
    failed(journey, asGatewayError(error, world.log).failure, sink)
  }
}

function isLastOf({ rounds }: Journey): boolean {
  return rounds.length === MAX_ROUNDS
}

async function askAgain(
  journey: Journey,
  prepared: Prepared,
  { said, usage }: HeldRound,
  outputs: readonly FunctionCallOutput[],
): Promise<Asked> {
  const { asking, asker, world, rounds, sent } = journey
  const { account, prompt } = prepared
  const { media, loaded, letGo } = await mediaOfOutputs(outputs, prepared, asker, world)
  try {
    const round = { prepared, said, usage, outputs, media, loaded }
    rounds.push(round)
    const [first = round, ...later] = rounds
    const again = askedAgain([first, ...later], isLastOf(journey), world)
    const onCall = (call: Call): void => {
      journey.newest = call
      if (journey.isCancelled) call.cancel()
      asking.onCall(call)
    }
    const targets = [{ account, model: prompt.params.model }]
    // It is sent, whatever becomes of it.
    sent.push(again)
    const asked = await ask({ ...asking, onCall, targets, prepare: () => again }, world)
    sent.splice(-1, 1, asked.prepared)
    return asked
  } finally {
    letGo()
  }
}

const LEFT = failureOf('upstream_broken', 'The client went away.')

function isLeft({ isCancelled, asking }: Journey): boolean {
  return isCancelled || asking.isGone()
}

/** Says what was heard, at the next tick, which is now. */
function tell(journey: Journey, events: readonly StreamEvent[], sink: Sink): void {
  if (events.length === 0) return
  journey.heard.push(...events)
  sink.chunk(TICK)
}

/** An event that says nothing. */
const TICK = new TextEncoder().encode('data: .\n\n')

function taken(journey: Journey): readonly StreamEvent[] {
  const { heard } = journey
  if (heard.length === 0) return NOTHING
  journey.heard = []
  return heard
}

/** It ends here, whatever the upstream would still have said. */
function lastOf(journey: Journey): readonly StreamEvent[] {
  const { answer } = journey
  return [...taken(journey), ...answer.hear(closing(journey)), ...answer.end()]
}

function failed(journey: Journey, failure: Failure, sink: Sink): void {
  const { answer } = journey
  // That is not the upstream's fault, and nobody is there to be told.
  if (isLeft(journey)) return sink.failed(failure)
  const closed = closing(journey).filter(({ type }) => !type.startsWith('answer-'))
  tell(journey, [...answer.hear(closed), ...answer.fail(failure)], sink)
  sink.end()
}

/** The ends of what is open. */
function closing(journey: Journey): readonly StreamEvent[] {
  const { reader } = journey
  journey.reader = null
  try {
    return reader?.end() ?? NOTHING
  } catch {
    return NOTHING
  }
}
