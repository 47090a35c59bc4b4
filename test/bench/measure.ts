/**
 * Runs the rounds. Subjects alternate within a scenario, and scenarios within a round, so that disturbances
 * affect all of them. A subject with wrong answers is not measured.
 */
import type { Child } from './children.ts'
import type { Sample } from './figures.ts'
import type { Expected, Job, Tally } from './job.ts'
import { cpuMs, machineBusyMs, residentMb } from './machine.ts'
import { probe } from './probe.ts'
import { seed } from './seed.ts'
import type { Scenario } from './scenarios.ts'
import type { StartedSubjects, Subject, SubjectName } from './subjects.ts'

export interface Bench {
  readonly cast: StartedSubjects
  readonly load: Child
  readonly say: (line: string) => void
  /** The results of the probes, by scenario and subject. */
  readonly expected: Map<string, Expected | null>
  readonly results: Results
}

export interface Results {
  /** By scenario, then by subject. */
  readonly samples: Map<Scenario, Map<SubjectName, Sample[]>>
  /** The error of a subject, by scenario and subject. */
  readonly wrong: Map<string, string>
}

export function keyOf(scenario: Scenario, subject: SubjectName): string {
  return `${scenario.name} · ${subject}`
}

/** Probes every kind of answer concurrently; subjects with wrong answers are not measured later. */
export async function probeAll(bench: Bench, all: readonly Scenario[]): Promise<void> {
  const looks = all.flatMap((scenario) =>
    subjectsOf(bench, scenario).map((subject) =>
      recordFailure(bench, scenario, subject, async () => {
        const expected = await expectedOf(subject, scenario)
        bench.expected.set(keyOf(scenario, subject.name), expected)
      }),
    ),
  )
  await Promise.all(looks)
}

/** Measures each subject of the scenario once, starting with a different one in each round. */
export async function runScenario(bench: Bench, scenario: Scenario, round: number): Promise<void> {
  const subjects = subjectsOf(bench, scenario)
  for (const at of subjects.keys()) {
    const subject = subjects[(at + round) % subjects.length]
    if (subject === undefined) continue
    if (bench.results.wrong.has(keyOf(scenario, subject.name))) continue
    await recordFailure(bench, scenario, subject, async () => {
      const sample = await takeSample(bench, scenario, subject)
      const { wrong, answers, firstWrong } = sample.tally
      if (wrong > 0) throw new Error(`${wrong} of ${answers}: ${firstWrong}`)
      addSample(bench.results, scenario, subject.name, sample)
    })
  }
}

async function recordFailure(
  { results, say }: Bench,
  scenario: Scenario,
  subject: Subject,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work()
  } catch (error) {
    const key = keyOf(scenario, subject.name)
    const why = error instanceof Error ? error.message : String(error)
    results.wrong.set(key, why)
    say(`wrong: ${key}: ${why}`)
  }
}

function subjectsOf({ cast }: Bench, scenario: Scenario): readonly Subject[] {
  return cast.subjects.filter(({ name }) => scenario.subjects.includes(name))
}

/** Returns null for an answer without an end. */
async function expectedOf(subject: Subject, { traffic }: Scenario): Promise<Expected | null> {
  if (traffic.answer.kind === 'hold') return null
  const isPipe = subject.name === 'direct' || subject.name === 'floor'
  const asked = subject.adapt(traffic)
  await seed(subject.target, asked, subject.remembers === true)
  return probe(subject.target, asked, isPipe)
}

async function takeSample(bench: Bench, scenario: Scenario, subject: Subject): Promise<Sample> {
  const traffic = subject.adapt(scenario.traffic)
  const expected = bench.expected.get(keyOf(scenario, subject.name)) ?? null
  const job: Job = { ...scenario.load, target: subject.target, traffic, expected }
  const before = read(bench, subject)
  const tally = await runJob(bench.load, job)
  if (job.kind === 'hold') await pause(SETTLE_MS)
  const after = read(bench, subject)
  if (job.kind === 'hold') await runJob(bench.load, { kind: 'release' })
  return {
    tally,
    cpuMs: difference(after.subjectMs, before.subjectMs),
    residentMb: after.residentMb,
    quiet: isQuiet(before, after),
  }
}

/** Wait until the work and most garbage of opening the streams are done. */
const SETTLE_MS = 400

async function runJob(load: Child, job: Job): Promise<Tally> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => finish(new Error('no end after 90 s')), 90_000)
    const onExit = (): void => finish(new Error(`the load client died: ${load.errorOutput()}`))
    const onMessage = (tally: Tally): void => finish(tally)
    const finish = (result: Tally | Error): void => {
      clearTimeout(timer)
      load.process.off('message', onMessage).off('exit', onExit)
      if (result instanceof Error) reject(result)
      else resolve(result)
    }
    load.process.on('message', onMessage).on('exit', onExit)
    load.process.send(job)
  })
}

interface Usage {
  readonly atMs: number
  readonly subjectMs: number | null
  readonly residentMb: number | null
  readonly oursMs: number | null
  readonly machineMs: number | null
}

function read({ cast, load }: Bench, subject: Subject): Usage {
  const own = process.cpuUsage()
  const others = [cast.upstream, load, ...cast.subjects.map(({ child }) => child)]
  const times = others.map((child) => (child === null ? 0 : cpuMs(child.pid)))
  return {
    atMs: performance.now(),
    subjectMs: subject.child === null ? null : cpuMs(subject.child.pid),
    residentMb: subject.child === null ? null : residentMb(subject.child.pid),
    oursMs: times.reduce<number>((sum, ms) => sum + (ms ?? 0), (own.user + own.system) / 1000),
    machineMs: machineBusyMs(),
  }
}

function isQuiet(before: Usage, after: Usage): boolean {
  const machine = difference(after.machineMs, before.machineMs) ?? 0
  const ours = difference(after.oursMs, before.oursMs) ?? 0
  // The kernel's work for the benchmark is not attributed to it, and ticks are too coarse for a short sample.
  return machine - ours < 40 + (after.atMs - before.atMs) * 0.2
}

function difference(after: number | null, before: number | null): number | null {
  return after === null || before === null ? null : after - before
}

function addSample(results: Results, scenario: Scenario, name: SubjectName, sample: Sample): void {
  const bySubject = results.samples.get(scenario) ?? new Map<SubjectName, Sample[]>()
  results.samples.set(scenario, bySubject)
  bySubject.set(name, [...(bySubject.get(name) ?? []), sample])
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
