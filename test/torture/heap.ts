/**
 * Runs mixed load and long chats, minute after minute, on a gateway whose caches are soon full. The memory that is in
 * use after a garbage collection must stay the same.
 */
import { join } from 'node:path'
import { startChild, type ChildGateway } from '../support/child-gateway.ts'
import { createFaultList } from './support/fault-list.ts'
import { createLedger } from './support/ledger.ts'
import { startLongChats } from './support/long-chats.ts'
import { startLoad } from './support/mixed-load.ts'
import type { TortureContext, TorturePart } from './support/part-interface.ts'
import { pause } from './support/pause.ts'
import type { LiveMemory } from './support/preload-heap.ts'

/** A third of the rounds fills the caches and compiles the code. Between the other two, this much more may be in use. */
const MAX_GROWTH_MB = 2
/** A run of some seconds only shows that nothing large is kept. */
const MAX_BRIEF_GROWTH_MB = 16

export const heap: TorturePart = {
  name: 'heap',
  description:
    'mixed load and long chats with full caches, a minute each round: the live heap stays the same',
  rounds: 9,
  async run(context) {
    const faults = createFaultList('grown', 'failed')
    const ledger = createLedger('h')
    const gateway = await startGateway(context)
    const measured: LiveMemory[] = []
    let answers = 0
    for (let round = 0; round < Math.max(3, context.rounds); round += 1) {
      const { random } = context
      const load = startLoad({ url: gateway.url, ledger, faults, random, clients: 4 })
      const chats = startLongChats(gateway.url, 4, random, faults)
      await pause(context.isBrief ? 700 : 60_000)
      answers += await chats.stop()
      await load.stop()
      measured.push(await measureLiveMemory(gateway, context.isBrief))
      context.printProgress(describe(measured.at(-1)))
    }
    await gateway.kill('SIGKILL')
    const third = Math.floor(measured.length / 3)
    const [middle, last] = [measured.slice(third, -third), measured.slice(-third)].map(averageMb)
    const growthMb = (last ?? 0) - (middle ?? 0)
    const limitMb = context.isBrief ? MAX_BRIEF_GROWTH_MB : MAX_GROWTH_MB
    if (growthMb > limitMb) {
      faults.add('grown', `by ${growthMb.toFixed(1)} MB: ${measured.map(describe).join('; ')}`)
    }
    return {
      tried: `${(ledger.acknowledged + answers).toLocaleString('en')} acknowledged writes and answers`,
      faults,
      figures: `${describe(measured.at(third))} after a third of the time, ${describe(measured.at(-1))} at the end`,
    }
  },
}

function startGateway({ folder }: TortureContext): Promise<ChildGateway> {
  const environment = {
    DATABASE_URL: `sqlite:${join(folder, 'heap.db')}`,
    CACHE_MB: '6',
    UPSTREAMS: '[{"name":"demo","wire":"demo","models":["demo"],"quirks":{"delayMs":1}}]',
  }
  return startChild(environment, [new URL('support/preload-heap.ts', import.meta.url)])
}

async function measureLiveMemory(gateway: ChildGateway, isBrief: boolean): Promise<LiveMemory> {
  // Background responses and writes after answers end meanwhile.
  await pause(isBrief ? 200 : 3000)
  return (await gateway.request({})) as LiveMemory
}

function averageMb(measured: readonly LiveMemory[]): number {
  return measured.reduce((sum, { liveMb }) => sum + liveMb, 0) / measured.length
}

function describe(memory: LiveMemory | undefined): string {
  return `${memory?.liveMb.toFixed(1)} MB live, process ${memory?.rssMb.toFixed(0)} MB`
}
