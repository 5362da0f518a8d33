// Type-aware rules only: format and syntax rules are Biome's (biome.json).
import tseslint from 'typescript-eslint'

const NAMED = {
  selector: 'CatchClause[param=null]',
  message:
    'Name the class that is expected (unlessThrown), or tell what was caught: anything else is a fault that must not vanish.',
}
const PLAIN_ERROR = 'Throw a PetrelError of this folder (errors.ts): callers branch on its code.'

export default tseslint.config(
  { ignores: ['node_modules/', 'dist/', 'build/', '**/*.js', '**/*.d.ts'] },
  {
    files: ['**/*.ts'],
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    languageOptions: {
      parser: tseslint.parser,
      parserOptions: {
        // One program for all files: five times the memory and time for one per tsconfig would find nothing more.
        project: './tsconfig.lint.json',
        tsconfigRootDir: import.meta.dirname,
      },
    },
    plugins: { '@typescript-eslint': tseslint.plugin },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-unsafe-assignment': 'error',
      '@typescript-eslint/no-unsafe-call': 'error',
      '@typescript-eslint/no-unsafe-member-access': 'error',
      '@typescript-eslint/no-unsafe-return': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/only-throw-error': 'error',
      '@typescript-eslint/prefer-promise-reject-errors': 'error',
      '@typescript-eslint/restrict-plus-operands': 'error',
      '@typescript-eslint/ban-ts-comment': 'error',
    },
  },
  {
    // The browser's own types do not go together with Node's.
    files: ['platform/browser/**/*.ts', 'test/platform/*.page.ts'],
    languageOptions: { parserOptions: { project: './platform/browser/tsconfig.json' } },
  },
  {
    files: ['test/examples/monitor/page/**/*.ts'],
    languageOptions: { parserOptions: { project: './test/examples/monitor/page/tsconfig.json' } },
  },
  {
    files: ['examples/monitor/**/*.ts'],
    languageOptions: { parserOptions: { project: './examples/monitor/tsconfig.json' } },
  },
  {
    files: ['src/**/*.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector: 'ThrowStatement > NewExpression[callee.name=/^(Error|TypeError|RangeError)$/]',
          message: PLAIN_ERROR,
        },
        { selector: 'ImportDeclaration[source.value=/^node:/]', message: 'src has no runtime: take a port.' },
        NAMED,
      ],
    },
  },
  { files: ['platform/**/*.ts'], rules: { 'no-restricted-syntax': ['error', NAMED] } },
  {
    // noble says with plain errors what is no point.
    files: ['src/crypto/blsNoble.ts', 'src/proofs/curve/curveNoble.ts'],
    rules: { 'no-restricted-syntax': 'off' },
  },
  {
    // Answers of the node and recorded files are untyped where tests read them.
    files: ['test/**/*.ts', 'examples/**/*.ts', 'scripts/**/*.ts'],
    rules: {
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
    },
  },
)
