// usage: PACKAGES=/path/of/node_modules node compile.mjs FILE.typ...: each compiles.
import { createRequire } from 'node:module';

const { NodeCompiler } = createRequire(`${process.env.PACKAGES}/`)('@myriaddreamin/typst-ts-node-compiler');

function compiles(file) {
    const compiler = NodeCompiler.create({ workspace: '/' });
    const run = compiler.compile({ mainFilePath: file });
    if (!run.hasError()) return true;
    for (const found of compiler.fetchDiagnostics(run.takeDiagnostics())) console.error(`${file}: ${found.message}`);
    return false;
}

process.exit(process.argv.slice(2).map(compiles).every(Boolean) ? 0 : 1);
