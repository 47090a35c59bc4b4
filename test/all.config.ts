/** Configuration of `npm run test:all`: runs every test, with all cases of those that `npm test` samples. */
process.env['SAMPLE_SEED'] = 'all'

export { default } from './vitest.config.ts'
