package pagetemplate

import (
	"reflect"
	"strings"
	"text/template/parse"
)

// expression returns the value of a pipeline or of a part of it.
type expression func(x *execution, dot reflect.Value) (reflect.Value, error)

// constant returns an expression that always has a value.
func constant(v reflect.Value) expression {
	return func(*execution, reflect.Value) (reflect.Value, error) { return v, nil }
}

// pipeline compiles a pipeline. The commands at its end with which html/template escapes
// the value are returned as an escaper; nil: there are none.
func (c *compiler) pipeline(pipe *parse.PipeNode) (expression, *escaper, error) {
	commands, escape, err := splitEscapers(pipe.Cmds)
	if err != nil {
		return nil, nil, err
	}
	var value expression
	for _, command := range commands {
		if value, err = c.command(command, value); err != nil {
			return nil, nil, err
		}
	}
	return value, escape, nil
}

// command compiles a command. Its last argument is the value of the command before,
// unless that is nil.
func (c *compiler) command(command *parse.CommandNode, before expression) (expression, error) {
	var args []expression
	for _, node := range command.Args[1:] {
		arg, err := c.operand(node)
		if err != nil {
			return nil, err
		}
		args = append(args, arg)
	}
	if before != nil {
		args = append(args, before)
	}
	switch first := command.Args[0].(type) {
	case *parse.IdentifierNode:
		return c.function(first, args)
	case *parse.FieldNode:
		return chain(dotExpression, first.Ident, args), nil
	case *parse.VariableNode:
		return chain(c.variable(first.Ident[0]), first.Ident[1:], args), nil
	case *parse.ChainNode:
		receiver, err := c.operand(first.Node)
		return chain(receiver, first.Field, args), err
	default:
		if len(args) > 0 {
			return nil, unsupported(command)
		}
		return c.operand(first)
	}
}

// operand compiles an argument.
func (c *compiler) operand(node parse.Node) (expression, error) {
	switch node := node.(type) {
	case *parse.DotNode:
		return dotExpression, nil
	case *parse.FieldNode:
		return chain(dotExpression, node.Ident, nil), nil
	case *parse.VariableNode:
		return chain(c.variable(node.Ident[0]), node.Ident[1:], nil), nil
	case *parse.ChainNode:
		receiver, err := c.operand(node.Node)
		return chain(receiver, node.Field, nil), err
	case *parse.IdentifierNode:
		return c.function(node, nil)
	case *parse.PipeNode:
		value, _, err := c.pipeline(node)
		return value, err
	case *parse.StringNode:
		return constant(reflect.ValueOf(node.Text)), nil
	case *parse.BoolNode:
		return constant(reflect.ValueOf(node.True)), nil
	case *parse.NumberNode:
		if node.IsInt && !strings.Contains(node.Text, ".") {
			return constant(reflect.ValueOf(int(node.Int64))), nil
		}
		return constant(reflect.ValueOf(node.Float64)), nil
	case *parse.NilNode:
		return constant(reflect.Value{}), nil
	}
	return nil, unsupported(node)
}

func dotExpression(_ *execution, dot reflect.Value) (reflect.Value, error) { return dot, nil }

// variable returns the expression of a variable.
func (c *compiler) variable(name string) expression {
	slot := c.slot(name)
	return func(x *execution, _ reflect.Value) (reflect.Value, error) { return x.variables[x.frame+slot], nil }
}

// chain returns the expression of fields or methods, each of the value before. args are
// the arguments of the last one.
func chain(receiver expression, names []string, args []expression) expression {
	for i, name := range names {
		m := &member{name: name}
		if i == len(names)-1 {
			m.args = args
		}
		before := receiver
		receiver = func(x *execution, dot reflect.Value) (reflect.Value, error) {
			v, err := before(x, dot)
			if err != nil {
				return v, err
			}
			return m.of(x, dot, v)
		}
	}
	return receiver
}

// function compiles the call of a function. The first argument that decides ends the
// evaluation of "and" and "or".
func (c *compiler) function(name *parse.IdentifierNode, args []expression) (expression, error) {
	if name.Ident == "and" || name.Ident == "or" {
		return decide(args, name.Ident == "or"), nil
	}
	f, ok := c.functions[name.Ident]
	if !ok {
		f, ok = builtins[name.Ident]
	}
	if !ok {
		return nil, unsupported(name)
	}
	return func(x *execution, dot reflect.Value) (reflect.Value, error) {
		first := len(x.args)
		for _, arg := range args {
			v, err := arg(x, dot)
			if err != nil {
				return v, err
			}
			x.args = append(x.args, v)
		}
		v, err := f.call(x.args[first:])
		x.args = x.args[:first]
		return v, err
	}, nil
}

// decide returns the first value whose truth is the one that decides, else the last one.
func decide(args []expression, truth bool) expression {
	return func(x *execution, dot reflect.Value) (v reflect.Value, err error) {
		for _, arg := range args {
			if v, err = arg(x, dot); err != nil || isTrue(v) == truth {
				return v, err
			}
		}
		return v, nil
	}
}

// element returns the value that an interface holds.
func element(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	return v
}
