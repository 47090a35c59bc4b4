/**
 * The benchmark: compares Backstory with direct requests to the upstream, with a raw pipe and with a peer.
 * Progress goes to standard error, the table to standard output.
 *
 *   npm run bench              five rounds, some minutes
 *   npm run bench -- --quick   under a minute
 *   npm run bench -- --profile shows where Backstory spends its time instead
 *   … --only='200 KB|chat of'  only the scenarios whose names match
 *   npm run bench -- scale     look-ups in a database of a million turns instead (scale.ts)
 *   npm run bench -- deletion  deletes a user with a hundred thousand turns instead (deletion.ts)
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stopAll } from './children.ts'
import { benchDeletion } from './deletion.ts'
import { syncMs } from './machine.ts'
import { probeAll, runScenario } from './measure.ts'
import type { Bench } from './measure.ts'
import { profile, PROFILED, PROFILER_ARGS } from './profile.ts'
import { isSound, report } from './report.ts'
import { benchScale } from './scale.ts'
import { MEMORY, scenarios, warmUp } from './scenarios.ts'
import type { Scenario } from './scenarios.ts'
import { startLoad, startSubjects, SUBJECT_NAMES } from './subjects.ts'

const quick = process.argv.includes('--quick')
const profiles = process.argv.includes('--profile')
const only = new RegExp(process.argv.find((word) => word.startsWith('--only='))?.slice(7) ?? '')
const folder = mkdtempSync(join(tmpdir(), 'backstory-bench-'))
// Runs after the exit handler of children.ts, which has ended all children.
process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => process.exit(130))
}

try {
  if (process.argv[2] === 'scale') await benchScale(Number(process.argv[3] ?? 1_000_000))
  else if (process.argv[2] === 'deletion') await benchDeletion(Number(process.argv[3] ?? 100_000))
  else await runBench()
} catch (error) {
  console.error(error)
  process.exitCode = 1
} finally {
  await stopAll()
}

async function runBench(): Promise<void> {
  const bench = await prepare()
  if (profiles) console.log(await profile(bench, folder, only))
  else {
    const rounds = await runAll(bench)
    console.log(report({ ...bench, rounds, syncMs: syncMs(folder) }))
  }
  process.exitCode = isSound(bench) ? 0 : 1
}

async function prepare(): Promise<Bench> {
  printProgress('starting the subjects')
  const cast = await startSubjects({
    folder,
    fetchMs: quick ? 15_000 : 120_000,
    ...(profiles
      ? { names: PROFILED, nodeArgs: PROFILER_ARGS }
      : { names: SUBJECT_NAMES, nodeArgs: [] }),
  })
  for (const { name, why } of cast.missing) printProgress(`${name} is missing: ${why}`)
  const results = { samples: new Map(), wrong: new Map<string, string>() }
  return { cast, load: startLoad(folder), say: printProgress, expected: new Map(), results }
}

/** Returns the number of rounds; the quick form stops before a round that would take too long. */
async function runAll(bench: Bench): Promise<number> {
  const { rounds, untilMs } = quick
    ? { rounds: 3, untilMs: 57_000 }
    : { rounds: 5, untilMs: Infinity }
  const all = scenarios(quick).filter(({ name }) => only.test(name))
  const warming = warmUp(quick)
  if (only.test(MEMORY.name)) await runRound(bench, [MEMORY], 'memory', 0)
  printProgress('looking at every kind of answer')
  await probeAll(bench, [...all, ...warming])
  const unrecorded = { ...bench, results: { ...bench.results, samples: new Map() } }
  await runRound(unrecorded, warming, 'not measured', 0)
  for (let round = 1; ; round += 1) {
    const beganAt = performance.now()
    await runRound(bench, all, `round ${round}`, round)
    const tookMs = performance.now() - beganAt
    if (round === rounds || performance.now() + tookMs > untilMs) return round
  }
}

async function runRound(
  bench: Bench,
  all: readonly Scenario[],
  title: string,
  round: number,
): Promise<void> {
  for (const scenario of all) {
    printProgress(`${title}: ${scenario.name}`)
    await runScenario(bench, scenario, round)
  }
}

function printProgress(text: string): void {
  process.stderr.write(`${(performance.now() / 1000).toFixed(1).padStart(6)} s  ${text}\n`)
}
