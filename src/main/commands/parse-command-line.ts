/** Parses a command line with `parseArgs` of Node; returns an error message and the usage as text. */
import { parseArgs, type ParseArgsConfig } from 'node:util'
import { errorMessage } from '../../core/errors/gateway-error.ts'

export function parseCommandLine<const Options extends NonNullable<ParseArgsConfig['options']>>(
  args: readonly string[],
  options: Options,
  usage: string,
  maxPositionals = 0,
) {
  try {
    const allowPositionals = maxPositionals > 0
    const parsed = parseArgs({ args: [...args], options, allowPositionals, tokens: true })
    const names = parsed.tokens.flatMap((token) => (token.kind === 'option' ? [token.name] : []))
    const repeated = names.find((name, index) => names.indexOf(name) !== index)
    if (repeated !== undefined) return `Option '--${repeated}' is given twice.\n${usage}`
    const unexpected: string | undefined = parsed.positionals[maxPositionals]
    if (unexpected !== undefined) return `Unexpected argument '${unexpected}'.\n${usage}`
    return parsed
  } catch (error) {
    return `${errorMessage(error)}\n${usage}`
  }
}
