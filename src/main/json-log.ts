/**
 * Writes the gateway's log, one line of JSON for each event. Callers never log keys, prompts or
 * payloads.
 */
import type { Log } from '../core/ports/log-interface.ts'

export function createJsonLog(write: (line: string) => void, now: () => number): Log {
  return (level, event, fields = {}) => {
    write(JSON.stringify({ time: new Date(now()).toISOString(), level, event, ...fields }))
  }
}
