import fc from 'fast-check'
import { expect, test } from 'vitest'
import { carryOverPlan } from '../../../src/context/summaries/carry-over-plan.ts'
import { buildCompactionPrompt } from '../../../src/context/summaries/plan-compaction.ts'
import {
  createSummaryPromptBuilder,
  parseSummary,
} from '../../../src/context/summaries/summary-cut-prompts-and-parser.ts'

const PLAN = '## Plan\nGoal: move the shop.\n- copy the data: done\n- switch over: open'

test('both forms of a summary have a section for the plan of unfinished work', () => {
  for (const build of [createSummaryPromptBuilder(null), buildCompactionPrompt])
    expect(build(null, 'x').instructions).toMatch(/\n\n## Plan\n.+\n\n## Open\n/)
})

test('a summary that leaves out the plan keeps the plan of the previous summary', () => {
  expect(carryOverPlan(`## Done\nAll.\n\n${PLAN}`, '## Done\nMore.')).toBe(
    `## Done\nMore.\n\n${PLAN}`,
  )
  expect(carryOverPlan(`${PLAN}\n\n## Open\nThe price.`, '## Done\nMore.')).toBe(
    `## Done\nMore.\n\n${PLAN}`,
  )
})

test("a summary's own plan replaces the previous one, and `none` ends it", () => {
  const updated = PLAN.replace('open', 'done')
  expect(carryOverPlan(PLAN, updated)).toBe(updated)
  for (const none of ['none', '- None.', ''])
    expect(carryOverPlan(PLAN, `## Done\nAll.\n\n## Plan:\n${none}\n\n## Open\nx`)).toBe(
      '## Done\nAll.\n\n## Open\nx',
    )
})

test('summaries without a plan stay unchanged', () => {
  for (const previous of [null, '', '## Done\nAll.'])
    expect(carryOverPlan(previous, ' They met. ')).toBe(' They met. ')
})

test('the plan survives any number of summaries that leave it out, and is never doubled', () => {
  const section = fc.constantFrom('## Done\nx', '## Open\ny', '## Facts\n- port 8080', 'They met.')
  fc.assert(
    fc.property(fc.array(fc.array(section), { minLength: 1 }), (summaries) => {
      const last = summaries
        .map((sections) => sections.join('\n\n'))
        .reduce(carryOverPlan, `## Wishes\nMove.\n\n${PLAN}`)
      expect(last.split(PLAN)).toHaveLength(2)
      expect(parseSummary(last).text).toContain(PLAN)
    }),
  )
})
