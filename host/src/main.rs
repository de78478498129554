//! The `counterfoil` program.

fn main() -> std::process::ExitCode {
    counterfoil::cli::main()
}
