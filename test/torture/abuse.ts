/**
 * One key abuses the gateway: huge and deep bodies, many at once, uploads that never end, large histories, mass
 * hang-ups, thousands of background runs. Clients with another key are served as before, and nothing ends the
 * process, which has the default heap.
 */
import { join } from 'node:path'
import { startChild, type ChildGateway } from '../support/child-gateway.ts'
import { createFaultList } from './support/fault-list.ts'
import {
  KEYS,
  listAttacks,
  startBriefUpstream,
  startFloodingUpstream,
  type Attack,
} from './support/attacks.ts'
import type { Upstream } from '../support/upstream.ts'
import { startOtherClients } from './support/other-clients.ts'
import type { TortureContext, TorturePart } from './support/part-interface.ts'
import { pause } from './support/pause.ts'
import type { ProbeFigures } from './support/preload-probe.ts'

/** Limits of the event loop's delay. A brief run measures it, but other tests use the machine as well. */
const MAX_P99_MS = 50
const MAX_DELAY_MS = 250

/** How long one attack may take; what it has not finished by then is hung up. */
const MAX_ATTACK_MS = 60_000

export const abuse: TorturePart = {
  name: 'abuse',
  description: `abuse by one key: bodies, uploads, histories, hang-ups and background runs; the others' delay is at most ${MAX_P99_MS} ms (p99) and ${MAX_DELAY_MS} ms`,
  rounds: 1,
  async run(context) {
    const faults = createFaultList('blocked', 'ended')
    const attacks = listAttacks(context.isBrief)
    const upstreams = { flood: await startFloodingUpstream(), fast: await startBriefUpstream() }
    let gateway = await startGateway(context, upstreams, 0)
    let others = startOtherClients(gateway.url, KEYS.other)
    const worst = { p99Ms: 0, maxMs: 0, heapMb: 0, rssMb: 0 }
    let starts = 1
    for (let round = 0; round < context.rounds; round += 1) {
      for (const attack of attacks) {
        const answers = await runAttack(attack, gateway, context.isBrief ? 50 : 300)
        const figures = (await gateway.request({})) as ProbeFigures | null
        const { refused, late, slowestMs } = others.takeFigures()
        const shown = [...answers].map(([answer, count]) => `${count} × ${answer}`)
        if (figures === null) {
          faults.add('ended', `"${attack.name}" ended the process: ${lastLines(gateway)}`)
          context.printProgress(`${attack.name}: ${shown.join(', ')}; the process ended`)
          await others.stop()
          gateway = await startGateway(context, upstreams, (starts += 1))
          others = startOtherClients(gateway.url, KEYS.other)
          continue
        }
        // Counted since the start of the process, i.e. over all attacks so far.
        worst.p99Ms = figures.p99Ms
        for (const name of ['maxMs', 'heapMb', 'rssMb'] as const) {
          worst[name] = Math.max(worst[name], figures[name])
        }
        const delay = `event loop delayed ${Math.round(figures.maxMs)} ms`
        if (figures.maxMs > MAX_DELAY_MS && !context.isBrief)
          faults.add('blocked', `"${attack.name}": ${delay}`)
        if (refused > 0)
          faults.add('blocked', `"${attack.name}": ${refused} requests of others were refused`)
        if (late > 0 && !context.isBrief)
          faults.add('blocked', `"${attack.name}": ${late} requests of others were late`)
        context.printProgress(
          `${attack.name}: ${shown.join(', ')}; ${delay}, others waited ${Math.round(slowestMs)} ms, heap ${Math.round(figures.heapMb)} MB, process ${Math.round(figures.rssMb)} MB`,
        )
      }
    }
    if (worst.p99Ms > MAX_P99_MS && !context.isBrief)
      faults.add('blocked', `p99 of the delay is ${Math.round(worst.p99Ms)} ms`)
    await others.stop()
    await gateway.kill('SIGKILL')
    await Promise.all(Object.values(upstreams).map(({ close }) => close()))
    return {
      tried: `${attacks.length * context.rounds} attacks`,
      faults,
      figures: `event-loop delay p99 ${Math.round(worst.p99Ms)} ms, at most ${Math.round(worst.maxMs)} ms; heap ${Math.round(worst.heapMb)} MB, process ${Math.round(worst.rssMb)} MB`,
    }
  },
}

function startGateway(
  { folder }: TortureContext,
  upstreams: Readonly<Record<'flood' | 'fast', Upstream>>,
  number: number,
): Promise<ChildGateway> {
  const environment = {
    DATABASE_URL: `sqlite:${join(folder, `abuse-${number}.db`)}`,
    BACKSTORY_KEYS: `abuser:${KEYS.abuser},other:${KEYS.other}`,
    UPSTREAMS: JSON.stringify([
      { name: 'demo', wire: 'demo', models: ['demo'], quirks: { delayMs: 20 } },
      ...Object.entries(upstreams).map(([name, { url }]) => ({
        name,
        wire: 'chat',
        models: [name],
        baseUrl: url,
      })),
    ]),
  }
  return startChild(environment, [new URL('support/preload-probe.ts', import.meta.url)])
}

function lastLines(gateway: ChildGateway): string {
  const fatal = /FATAL ERROR.*/.exec(gateway.output())?.[0]
  return fatal ?? gateway.output().slice(-300)
}

/** Returns how often the attack got which answer. */
async function runAttack(
  { run }: Attack,
  { url }: ChildGateway,
  restMs: number,
): Promise<ReadonlyMap<string, number>> {
  const answers = new Map<string, number>()
  const count = (answer: string): void => void answers.set(answer, (answers.get(answer) ?? 0) + 1)
  await run({ url, count, signal: AbortSignal.timeout(MAX_ATTACK_MS) })
  // What the attack has left to do is part of it.
  await pause(restMs)
  return answers
}
