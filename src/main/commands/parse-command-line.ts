/** A command line taken apart: flags, options with what they need, and words that stand by themselves. */
export interface CommandLineSyntax {
  readonly flags: ReadonlySet<string>
  /** What each of them needs. */
  readonly options: ReadonlyMap<string, string>
  /** So many words may stand by themselves. */
  readonly names?: number
  readonly usage: string
}

export interface ParsedCommandLine {
  readonly options: ReadonlyMap<string, string>
  readonly names: readonly string[]
}

/** A text is what is wrong. */
export function parseCommandLine(
  words: readonly string[],
  { flags, options, names: most = 0, usage }: CommandLineSyntax,
): ParsedCommandLine | string {
  const said = new Map<string, string>()
  const names: string[] = []
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? ''
    const [name = '', ...after] = word.split('=')
    if (!flags.has(name) && !options.has(name)) {
      const isName = word === '-' || !word.startsWith('-')
      if (!isName || names.length === most) return `There is no option "${word}".\n${usage}`
      names.push(word)
      continue
    }
    if (said.has(name)) return `${name} is there twice.`
    if (flags.has(name)) {
      if (after.length > 0) return `${name} takes no value.`
      said.set(name, '')
      continue
    }
    const value = after.length > 0 ? after.join('=') : words[(at += 1)]
    if (value === undefined || value === '' || (after.length === 0 && value.startsWith('--')))
      return `${name} needs ${options.get(name)}.`
    said.set(name, value)
  }
  return { options: said, names }
}
