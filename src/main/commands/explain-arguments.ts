/** Parses the arguments of the command `explain`. */
import { turnIdOfCompletion, turnIdOfResponse } from '../../core/turn-derived-ids.ts'
import { parseCommandLine } from './parse-command-line.ts'

export interface ExplainArguments {
  /** Id of a stored answer, or the file of a request body (`-` for standard input). */
  readonly subject: { readonly answer: string } | { readonly request: string }
  readonly format: 'text' | 'json' | 'body'
  readonly round: string | null
  /** Name of an API key in `BACKSTORY_KEYS`. */
  readonly key: string | null
  readonly user: string | null
}

/**
 * Parses the arguments. Returns an error message as a string, or null if only help is requested.
 */
export function parseExplainArguments(args: readonly string[]): ExplainArguments | string | null {
  const parsed = parseCommandLine(args, OPTIONS, EXPLAIN_USAGE, 1)
  if (typeof parsed === 'string') return parsed
  const { help, json, body, round, key, user } = parsed.values
  if (help) return null
  const [name] = parsed.positionals
  if (name === undefined) return `What is to be explained?\n${EXPLAIN_USAGE}`
  if (json && body) return '--json and --body are two forms of the same.'
  const isAnswer = (turnIdOfResponse(name) ?? turnIdOfCompletion(name)) !== null
  if (round !== undefined && !isAnswer) return '--round is for a stored answer.'
  return {
    subject: isAnswer ? { answer: name } : { request: name },
    format: json ? 'json' : body ? 'body' : 'text',
    round: round ?? null,
    key: key ?? null,
    user: user ?? null,
  }
}

const OPTIONS = {
  json: { type: 'boolean' },
  body: { type: 'boolean' },
  round: { type: 'string' },
  key: { type: 'string' },
  user: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const

export const EXPLAIN_USAGE = `Usage: npm start -- explain FILE|-|ID [options]
  FILE, -      a request body of either API, from a file or from standard input: explains what would be sent
  ID           the id of a stored answer, such as resp_…: explains what was sent
  --json       the complete explanation as JSON
  --body       only the body that is sent to the upstream
  --round N    which request of an answer that took several: from 0, or last
  --key NAME   the API key that the answer belongs to, if there are several
  --user ID    the user that it belongs to`
