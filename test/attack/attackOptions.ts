/** What attacks whose peers are processes of their own are started with: parts of names, and what a child is told by its parent. */
export const ATTACK_OPTIONS = {
  only: { type: 'string', default: '' },
  child: { type: 'boolean', default: false },
  target: { type: 'string', default: '' },
  kind: { type: 'string', default: '' },
  genesis: { type: 'string', default: '' },
} as const
