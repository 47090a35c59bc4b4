/** What `npm run test:all` runs: every test, with all cases of the laws of which `npm test` tries a sample. */
process.env['SAMPLE_SEED'] = 'all'

export { default } from './vitest.config.ts'
