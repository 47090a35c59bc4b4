/** Parses a command line with Node's `parseArgs`. Adds the usage to the message of an error. */
import { parseArgs, type ParseArgsConfig } from 'node:util'
import { errorMessage } from '../../core/errors/gateway-error.ts'

export function parseCommandArguments<
  const Options extends NonNullable<ParseArgsConfig['options']>,
>(args: readonly string[], options: Options, usage: string, maxPositionals = 0) {
  try {
    const allowPositionals = maxPositionals > 0
    const parsed = parseArgs({ args: [...args], options, allowPositionals, tokens: true })
    const names = parsed.tokens.flatMap((token) => (token.kind === 'option' ? [token.name] : []))
    const repeated = names.find((name, index) => names.indexOf(name) !== index)
    if (repeated !== undefined) throw new Error(`Option '--${repeated}' is given twice.`)
    const unexpected: string | undefined = parsed.positionals[maxPositionals]
    if (unexpected !== undefined) throw new Error(`Unexpected argument '${unexpected}'.`)
    return parsed
  } catch (error) {
    throw new Error(`${errorMessage(error)}\n${usage}`, { cause: error })
  }
}
