/** The gateway's own words about itself: a JSON line each. Never keys, prompts or payloads. */
import type { Log } from './conversation/log.ts'

export function jsonLog(write: (line: string) => void, now: () => number): Log {
  return (level, event, fields = {}) => {
    write(JSON.stringify({ time: new Date(now()).toISOString(), level, event, ...fields }))
  }
}
