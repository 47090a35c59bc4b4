/** The texts of `--help` and `--version`. */
import { readFileSync } from 'node:fs'

export const HELP = `Usage: npm start [-- COMMAND [options]]

Without a command, the gateway starts. Its settings are environment variables, or fields of backstory.json;
.env.example lists them all. Without settings, a demo model answers on http://127.0.0.1:8787.

  explain FILE|-|ID   shows what a model would be sent, or was sent for a stored answer, and why
  simulate            compares what conversations cost under each context policy; also \`npm run simulate\`
  reseal              encrypts all stored data anew, with the first key of STORAGE_KEYS
  rehearse            compiles the sources once, so that later starts are faster

  --help, -h          prints this text; after \`explain\` or \`simulate\`, their options
  --version, -v       prints the version`

/** Returns e.g. `backstory 0.1.0, Node v24.21.0`. */
export function describeVersion(): string {
  const path = new URL('../../../package.json', import.meta.url)
  const { version } = JSON.parse(readFileSync(path, 'utf8')) as { readonly version: string }
  return `backstory ${version}, Node ${process.version}`
}

export function isHelpRequest(argument: string | undefined): boolean {
  return argument === '--help' || argument === '-h' || argument === 'help'
}

export function isVersionRequest(argument: string | undefined): boolean {
  return argument === '--version' || argument === '-v' || argument === 'version'
}
