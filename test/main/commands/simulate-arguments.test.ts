import { describe, expect, test } from 'vitest'
import {
  parseSimulateArguments,
  SIMULATE_USAGE,
  type SimulateArguments,
} from '../../../src/main/commands/simulate-arguments.ts'

function parse(...args: readonly string[]): SimulateArguments {
  return parseSimulateArguments(args)
}

const names = ({ candidates }: SimulateArguments) => candidates.map(({ name }) => name)

describe('the arguments of the command `simulate`', () => {
  test('`simulate` without arguments plays twenty generated conversations under all policies', () => {
    const parsed = parse()
    expect(parsed.seeds).toEqual(Array.from({ length: 20 }, (_, seed) => seed))
    expect(names(parsed)).toEqual([
      'replay',
      'retain',
      'lean',
      'capped',
      'sliding-window',
      'trim-by-age',
    ])
    expect(parsed).toMatchObject({
      recording: null,
      printsJson: false,
      svgPath: null,
      showsUsage: false,
      bindsReasoning: true,
    })
  })

  test('`simulate --policies` selects policies, and full replay is always the reference', () => {
    const parsed = parse('--policies', 'lean, retain')
    expect(names(parsed)).toEqual(['retain', 'lean'])
    expect(parsed.baseline.name).toBe('replay')
  })

  test('`simulate --context` accepts a custom policy', () => {
    const parsed = parse('--policies=lean', '--context', '{"window": {"turns": 4}}')
    expect(names(parsed)).toEqual(['lean', 'your own'])
    expect(names(parse('--policies=lean', '--context', 'capped'))).toEqual(['lean', 'your own'])
  })

  test.each([
    ['7', [7]],
    ['0-2', [0, 1, 2]],
    ['3,1-2,2', [3, 1, 2]],
  ])('`simulate --seeds` accepts %s', (text, seeds) => {
    expect(parse('--seeds', text).seeds).toEqual(seeds)
  })

  test('`simulate --from` reads a recorded conversation from a file, and `--conversation` or `--response` from the database', () => {
    expect(parse('--from', 'a.json').recording).toEqual({ storedIn: 'file', path: 'a.json' })
    expect(parse('--conversation', 'conv_1', '--key', 'alice').recording).toEqual({
      storedIn: 'database',
      kind: 'conversation',
      id: 'conv_1',
      tenant: 'alice',
      user: null,
    })
    expect(parse('--response=resp_1', '--user=bob').recording).toMatchObject({
      kind: 'response',
      user: 'bob',
    })
  })

  test('the flags --json, --unbound, --svg and -h of `simulate` are parsed', () => {
    expect(parse('--json', '--unbound', '--svg', 'a.svg')).toMatchObject({
      printsJson: true,
      bindsReasoning: false,
      svgPath: 'a.svg',
    })
    expect(parse('-h').showsUsage).toBe(true)
  })

  test.each([
    [['--nonsense'], "Unknown option '--nonsense'"],
    [['lean'], "Unexpected argument 'lean'"],
    [['--policies', 'lean,other'], 'There is no policy "other" for --policies.'],
    [['--policies', ''], 'There is no policy "" for --policies.'],
    [['--seeds'], "Option '--seeds <value>' argument missing"],
    [['--seeds', '--json'], "Option '--seeds' argument is ambiguous."],
    [['--seeds', '4-1'], '"4-1" is none'],
    [['--seeds', '0-1000'], 'at most 1000'],
    [['--seeds', '1', '--seeds', '2'], "Option '--seeds' is given twice."],
    [['--json=yes'], "Option '--json' does not take an argument"],
    [['--from', 'a', '--response', 'resp_1'], 'Only one of --from, --conversation and --response'],
    [
      ['--from', 'a', '--seeds', '1'],
      '--seeds, --turns, --outputs and --images are for generated conversations',
    ],
    [['--key', 'alice'], '--key and --user name the owner'],
    [['--context', '{"windo": {}}'], "--context: Unknown parameter: 'context.windo'"],
    [['--context', '{'], '--context: '],
  ])('`simulate` rejects the arguments %j with an error message', (args, message) => {
    expect(() => parse(...args)).toThrow(message)
  })

  test('the usage of `simulate` describes all arguments', () => {
    for (const option of '--policies --context --seeds --from --conversation --response --key --user --unbound --json --svg'.split(
      ' ',
    )) {
      expect(SIMULATE_USAGE).toContain(option)
    }
  })
})
