/** What was asked for on the command line. What makes no sense is told in a sentence. */
import { parseCommandLine } from './parse-command-line.ts'
import { turnIdOfCompletion, turnIdOfResponse } from '../../core/turn-derived-ids.ts'

export interface ExplainArguments {
  /** The id of an answer, or where a request stands: a file, or `-` for the input. */
  readonly of: { readonly answer: string } | { readonly request: string }
  readonly format: 'text' | 'json' | 'body'
  readonly round: string | null
  /** The name of a key. */
  readonly key: string | null
  readonly user: string | null
}

/** A text is what is wrong; `null` for who only wants to know what can be asked. */
export function parseExplainArguments(words: readonly string[]): ExplainArguments | string | null {
  const said = parseCommandLine(words, {
    flags: FLAGS,
    options: OPTIONS,
    names: 1,
    usage: EXPLAIN_USAGE,
  })
  if (typeof said === 'string') return said
  const { options, names } = said
  if (options.has('--help') || options.has('-h')) return null
  const [name] = names
  if (name === undefined) return `What is to be explained?\n${EXPLAIN_USAGE}`
  if (options.has('--json') && options.has('--body'))
    return '--json and --body are two forms of the same.'
  const isAnswer = (turnIdOfResponse(name) ?? turnIdOfCompletion(name)) !== null
  if (options.has('--round') && !isAnswer) return '--round is for an answer that is kept.'
  return {
    of: isAnswer ? { answer: name } : { request: name },
    format: options.has('--json') ? 'json' : options.has('--body') ? 'body' : 'text',
    round: options.get('--round') ?? null,
    key: options.get('--key') ?? null,
    user: options.get('--user') ?? null,
  }
}

const FLAGS: ReadonlySet<string> = new Set(['--json', '--body', '--help', '-h'])

const OPTIONS: ReadonlyMap<string, string> = new Map([
  ['--round', 'the number of a round, or `last`'],
  ['--key', 'the name of a key'],
  ['--user', 'the id of a user'],
])

export const EXPLAIN_USAGE = `Usage: npm start -- explain FILE|-|ID [options]
  FILE, -      a request body of either API, from a file or from the input: what would be sent for it
  ID           of an answer that is kept, as in resp_…: what was sent for it
  --json       all that is known of it, for a machine
  --body       the bare bytes that the upstream is sent
  --round N    which request of an answer that took several: from 0, or last
  --key NAME   whose it is, if there are several keys
  --user ID    of which user it is`
