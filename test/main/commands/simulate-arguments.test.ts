import { describe, expect, test } from 'vitest'
import {
  parseSimulateArguments,
  SIMULATE_USAGE,
  type SimulateArguments,
} from '../../../src/main/commands/simulate-arguments.ts'

function read(...words: readonly string[]): SimulateArguments {
  const asked = parseSimulateArguments(words)
  if (typeof asked === 'string') throw new Error(asked)
  return asked
}

const names = ({ contestants }: SimulateArguments) => contestants.map(({ name }) => name)

describe('the command line', () => {
  test('without a word plays twenty conversations under all policies', () => {
    const asked = read()
    expect(asked.seeds).toEqual(Array.from({ length: 20 }, (_, seed) => seed))
    expect(names(asked)).toEqual([
      'replay',
      'retain',
      'lean',
      'capped',
      'sliding-window',
      'trim-by-age',
    ])
    expect(asked).toMatchObject({ source: null, json: false, svg: null, help: false, binds: true })
  })

  test('names policies; full replay is measured by anyway', () => {
    const asked = read('--policies', 'lean, retain')
    expect(names(asked)).toEqual(['retain', 'lean'])
    expect(asked.replay.name).toBe('replay')
  })

  test('takes a policy of your own', () => {
    const asked = read('--policies=lean', '--context', '{"window": {"turns": 4}}')
    expect(names(asked)).toEqual(['lean', 'your own'])
    expect(names(read('--policies=lean', '--context', 'capped'))).toEqual(['lean', 'your own'])
  })

  test.each([
    ['7', [7]],
    ['0-2', [0, 1, 2]],
    ['3,1-2,2', [3, 1, 2]],
  ])('takes seeds: %s', (text, seeds) => {
    expect(read('--seeds', text).seeds).toEqual(seeds)
  })

  test('says where a recorded conversation is', () => {
    expect(read('--from', 'a.json').source).toEqual({ from: 'file', path: 'a.json' })
    expect(read('--conversation', 'conv_1', '--tenant', 'alice').source).toEqual({
      from: 'memory',
      kind: 'conversation',
      id: 'conv_1',
      tenant: 'alice',
      user: null,
    })
    expect(read('--response=resp_1', '--user=bob').source).toMatchObject({
      kind: 'response',
      user: 'bob',
    })
  })

  test('takes its flags', () => {
    expect(read('--json', '--unbound', '--svg', 'a.svg')).toMatchObject({
      json: true,
      binds: false,
      svg: 'a.svg',
    })
    expect(read('-h').help).toBe(true)
  })

  test.each([
    [['--nonsense'], 'There is no option "--nonsense".'],
    [['lean'], 'There is no option "lean".'],
    [['--policies', 'lean,other'], 'There is no policy "other" for --policies.'],
    [['--policies', ''], '--policies needs names'],
    [['--seeds'], '--seeds needs numbers'],
    [['--seeds', '--json'], '--seeds needs numbers'],
    [['--seeds', '4-1'], '"4-1" is none'],
    [['--seeds', '0-1000'], 'at most 1000'],
    [['--seeds', '1', '--seeds', '2'], '--seeds is there twice.'],
    [['--json=yes'], '--json takes no value.'],
    [['--from', 'a', '--response', 'resp_1'], 'only one can be played'],
    [['--from', 'a', '--seeds', '1'], '--seeds is for conversations that are made'],
    [['--tenant', 'alice'], '--tenant and --user say whose'],
    [['--context', '{"windo": {}}'], "--context: Unknown parameter: 'context.windo'"],
    [['--context', '{'], '--context: '],
  ])('that makes no sense is told so: %j', (words, sentence) => {
    expect(parseSimulateArguments(words)).toContain(sentence)
  })

  test('tells of every option', () => {
    for (const option of '--policies --context --seeds --from --conversation --response --tenant --user --unbound --json --svg'.split(
      ' ',
    )) {
      expect(SIMULATE_USAGE).toContain(option)
    }
  })
})
