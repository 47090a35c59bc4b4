/**
 * Stop strings of a request: one, or a list. OpenAI takes four; so many more are looked for here
 * that nobody misses one, and not so many that looking for them becomes work.
 */
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { asList, asString } from './check-json-types.ts'

const MAX_STOPS = 64
const MAX_CHARS = 1024

export function asStopSequences(value: unknown, path: string): readonly string[] {
  if (typeof value === 'string') return [checked(value, path)]
  const list = asList(value, path)
  if (list.length > MAX_STOPS) {
    throw new GatewayError(
      'invalid_value',
      `Invalid '${path}': ${list.length} stop sequences are too many. At most ${MAX_STOPS} are taken.`,
      { param: path },
    )
  }
  return list.map((entry, at) => checked(asString(entry, `${path}[${at}]`), `${path}[${at}]`))
}

function checked(stop: string, path: string): string {
  if (stop.length <= MAX_CHARS) return stop
  throw new GatewayError(
    'invalid_value',
    `Invalid '${path}': a stop sequence has at most ${MAX_CHARS} characters.`,
    { param: path },
  )
}
