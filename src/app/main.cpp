#include "app/program.hpp"

int main(int argc, char** argv) {
    return wasp::run_program(argc, argv);
}
