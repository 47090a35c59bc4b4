/**
 * Carries the plan of unfinished work over from summary to summary. The model that writes a summary repeats the plan
 * and brings it up to date; if it leaves the section out, the section of the previous summary stays.
 */

const PLAN_HEADING = '## Plan'

/** The section of a summary's form, for the instructions to the model that writes it. */
export const PLAN_SECTION_INSTRUCTIONS = `${PLAN_HEADING}
For work in several steps that is not finished: its goal, all steps in order, each marked "done", "in progress" or "open", and the points that are still to be settled. Bring it up to date in every summary. Only when the work is finished or given up, write "none" here.`

/**
 * Returns `summary`. If `summary` has no section for the plan, the section of `previous` is added. If the section of
 * `summary` says `none`, the section is removed, unless nothing else is in `summary`.
 */
export function carryOverPlan(previous: string | null, summary: string): string {
  const { plan, rest } = splitPlan(summary)
  if (plan !== null) return NO_PLAN.test(plan) && rest !== '' ? rest : summary
  const earlier = previous === null ? null : splitPlan(previous).plan
  if (earlier === null || NO_PLAN.test(earlier)) return summary
  return `${summary}\n\n${PLAN_HEADING}\n${earlier}`
}

const NO_PLAN = /^(?:[-*\s]*none[.\s]*)?$/i

/** Splits a summary into the text of its section for the plan, `null` without one, and the other sections. */
function splitPlan(summary: string): { readonly plan: string | null; readonly rest: string } {
  const lines = summary.split('\n')
  const start = lines.findIndex((line) => IS_PLAN_HEADING.test(line))
  if (start === -1) return { plan: null, rest: summary }
  const next = lines.findIndex((line, index) => index > start && line.startsWith('## '))
  const end = next === -1 ? lines.length : next
  const rest = [...lines.slice(0, start), ...lines.slice(end)].join('\n').trim()
  return {
    plan: lines
      .slice(start + 1, end)
      .join('\n')
      .trim(),
    rest,
  }
}

/** Some models add a colon to headings. */
const IS_PLAN_HEADING = /^## Plan:?\s*$/
