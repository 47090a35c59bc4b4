/** Prints before and after the tests which share of the sampled cases a run tries. */
export default function setup(): () => void {
  printSample()
  return printSample
}

function printSample(): void {
  const seed = process.env['SAMPLE_SEED']
  const line =
    seed === 'all'
      ? 'The slowest laws try all of their cases.'
      : `The slowest laws try a sample of their cases. The same again: SAMPLE_SEED=${seed} npm test. All: npm run test:all.`
  process.stdout.write(`\n${line}\n`)
}
