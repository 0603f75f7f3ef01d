// Starts `gasell lsp` and lets VS Code speak with it.
"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function command() {
  return vscode.workspace.getConfiguration("gasell").get("command", "gasell");
}

async function start() {
  const server = { command: command(), args: ["lsp"] };
  client = new LanguageClient("gasell", "Gasell", server, { documentSelector: [{ language: "gasell" }] });
  try {
    await client.start();
  } catch (error) {
    vscode.window.showErrorMessage(`Gasell: '${command()} lsp' did not start (${error.message}). The setting gasell.command names the command.`);
  }
}

async function stop() {
  const stopped = client;
  client = undefined;
  if (stopped && stopped.isRunning()) await stopped.stop();
}

function run() {
  const editor = vscode.window.activeTextEditor;
  if (!editor) return;
  const terminal = vscode.window.terminals.find((one) => one.name === "Gasell") || vscode.window.createTerminal("Gasell");
  const quoted = (text) => `'${text.replace(/'/g, "'\\''")}'`;
  editor.document.save().then(() => {
    terminal.show();
    terminal.sendText(`${quoted(command())} ${quoted(editor.document.fileName)}`);
  });
}

exports.activate = async function (context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("gasell.restart", () => stop().then(start)),
    vscode.commands.registerCommand("gasell.run", run),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("gasell.command")) stop().then(start);
    }),
  );
  await start();
};

exports.deactivate = stop;
