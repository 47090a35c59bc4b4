/**
 * Writes the gateway's log, one line of JSON for each event. Callers must not log keys, prompts or
 * request bodies.
 */
import type { Log } from '../core/ports/log-interface.ts'

export function createJsonLog(write: (line: string) => void, now: () => number): Log {
  return (level, event, fields = {}) => {
    write(JSON.stringify({ time: new Date(now()).toISOString(), level, event, ...fields }))
  }
}
