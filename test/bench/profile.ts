/** Profiles Backstory's main thread in a few scenarios, and lists the most expensive functions. */
import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { join } from 'node:path'
import { probeAll, runScenario } from './measure.ts'
import type { Sample } from './figures.ts'
import type { Bench } from './measure.ts'
import { scenarios, warmUp } from './scenarios.ts'
import type { Scenario } from './scenarios.ts'
import { titleOf } from './subjects.ts'
import type { Subject, SubjectName } from './subjects.ts'

export const PROFILED: readonly SubjectName[] = ['pass-through', 'everything', 'translated']

export const PROFILER_ARGS = ['--import', new URL('./profiler.ts', import.meta.url).href]

export async function profile(bench: Bench, folder: string, only: RegExp): Promise<string> {
  const texts: string[] = []
  const all = scenarios(false).filter(
    ({ name }) => PROFILED_SCENARIOS.test(name) && only.test(name),
  )
  await probeAll(bench, [...warmUp(false), ...all])
  for (const scenario of warmUp(false)) await runScenario(bench, scenario, 0)
  for (const subject of bench.cast.subjects) {
    let count = 0
    for (const scenario of all) {
      if (!scenario.subjects.includes(subject.name)) continue
      bench.say(`profiling ${subject.name}: ${scenario.name}`)
      const path = join(folder, subject.name, `${count++}.cpuprofile`)
      const answers = await profileOne(bench, scenario, subject)
      while (!existsSync(path)) await sleep(50)
      const read = JSON.parse(readFileSync(path, 'utf8')) as CpuProfile
      texts.push(
        `### ${titleOf(subject.name)}: ${scenario.name}`,
        '',
        ...summary(read, answers),
        '',
      )
    }
  }
  const wrong = [...bench.results.wrong].map(([key, why]) => `Wrong: ${key}: ${why}`)
  return [...texts, ...wrong].join('\n')
}

/** Returns the number of answers. */
async function profileOne(bench: Bench, scenario: Scenario, subject: Subject): Promise<number> {
  const cast = { ...bench.cast, subjects: [subject] }
  const results = { ...bench.results, samples: new Map<Scenario, Map<SubjectName, Sample[]>>() }
  toggle(subject)
  await runScenario({ ...bench, cast, results }, scenario, 0)
  toggle(subject)
  return results.samples.get(scenario)?.get(subject.name)?.[0]?.tally.answers ?? 1
}

const PROFILED_SCENARIOS =
  /^small request, 64|^200 KB|^stream of|^60 new streams a second$|^chat of/

function toggle({ child }: Subject): void {
  child?.process.kill('SIGUSR2')
}

/** The used part of a .cpuprofile. */
interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: {
      readonly functionName: string
      readonly url: string
      readonly lineNumber: number
    }
  }[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

/** Lists self times in microseconds per answer: by package, then the most expensive functions. */
function summary(profile: CpuProfile, answers: number): readonly string[] {
  const frames = new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame]))
  const byPackage = new Map<string, number>()
  const byFunction = new Map<string, number>()
  for (const [at, id] of profile.samples.entries()) {
    const frame = frames.get(id)
    // The profiler's own work is at the start and at the end.
    if (frame === undefined || frame.functionName === '(idle)') continue
    if (frame.url === 'node:inspector') continue
    const us = (profile.timeDeltas[at] ?? 0) / answers
    const key = nameOf(frame)
    byFunction.set(key, (byFunction.get(key) ?? 0) + us)
    byPackage.set(packageOf(frame), (byPackage.get(packageOf(frame)) ?? 0) + us)
  }
  const total = [...byPackage.values()].reduce((sum, us) => sum + us, 0)
  const list = (self: ReadonlyMap<string, number>, most: number): readonly string[] =>
    [...self]
      .toSorted(([, a], [, b]) => b - a)
      .slice(0, most)
      .map(([name, us]) => `${us.toFixed(1).padStart(8)} µs ${percent(us / total)}  ${name}`)
  return [
    `${total.toFixed(1)} µs per answer`,
    '',
    ...list(byPackage, 9),
    '',
    ...list(byFunction, 25),
  ]
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1).padStart(5)} %`
}

type CallFrame = CpuProfile['nodes'][0]['callFrame']

function nameOf({ functionName, url, lineNumber }: CallFrame): string {
  const place = url.replace(/^.*\/(?=src\/|node_modules\/)/, '')
  return place === '' ? functionName : `${functionName || '(anonymous)'} ${place}:${lineNumber + 1}`
}

/** Frames without a URL are kernel calls, garbage collection and V8 internals. */
function packageOf({ functionName, url }: CallFrame): string {
  const dependency = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1]
  if (dependency !== undefined) return dependency
  if (url.startsWith('node:')) return 'node'
  if (url.startsWith('wasm:')) return 'undici'
  const folder = /\/src\/([^/]+)/.exec(url)?.[1]
  return folder === undefined ? `native ${functionName}` : `src/${folder}`
}
