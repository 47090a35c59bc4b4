/**
 * Fixes the seed of all property tests, so that runs are comparable. `FC_SEED=random` or a number selects
 * other cases; a failure prints its seed.
 */
import fc from 'fast-check'

const wanted = process.env['FC_SEED'] ?? '1'

if (wanted !== 'random') fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(wanted) })
