package pagetemplate

import (
	"fmt"
	"html/template"
	"reflect"
	"text/template/parse"
)

// statement writes the output of a node.
type statement func(x *execution, dot reflect.Value) error

// list compiles nodes that follow each other.
func (c *compiler) list(list *parse.ListNode) (statement, error) {
	if list == nil {
		return nothing, nil
	}
	var all []statement
	for _, node := range list.Nodes {
		compiled, err := c.node(node)
		if err != nil {
			return nil, err
		}
		if compiled != nil {
			all = append(all, compiled)
		}
	}
	return func(x *execution, dot reflect.Value) error {
		for _, each := range all {
			if err := each(x, dot); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

func nothing(*execution, reflect.Value) error { return nil }

// node compiles a node; nil: it has no output.
func (c *compiler) node(node parse.Node) (statement, error) {
	switch node := node.(type) {
	case *parse.TextNode:
		text := string(node.Text)
		return func(x *execution, _ reflect.Value) error {
			x.out = append(x.out, text...)
			return nil
		}, nil
	case *parse.CommentNode:
		return nil, nil
	case *parse.ActionNode:
		return c.action(node)
	case *parse.IfNode:
		return c.branch(&node.BranchNode, false)
	case *parse.WithNode:
		return c.branch(&node.BranchNode, true)
	case *parse.RangeNode:
		return c.loop(node)
	case *parse.TemplateNode:
		return c.call(node)
	}
	return nil, unsupported(node)
}

// action compiles an action: its value is stored in a variable, or written as
// html/template has decided.
func (c *compiler) action(node *parse.ActionNode) (statement, error) {
	value, escape, err := c.pipeline(node.Pipe)
	if err != nil {
		return nil, err
	}
	if len(node.Pipe.Decl) > 0 {
		return c.assignment(node.Pipe, value)
	}
	if escape == nil {
		return nil, fmt.Errorf("%s is not escaped", node)
	}
	return func(x *execution, dot reflect.Value) error {
		v, err := value(x, dot)
		if err != nil {
			return fmt.Errorf("%s: %w", node, err)
		}
		x.out, err = escape.append(x.out, v)
		return err
	}, nil
}

// assignment compiles the declaration or assignment of a variable.
func (c *compiler) assignment(pipe *parse.PipeNode, value expression) (statement, error) {
	var slot int
	if name := pipe.Decl[0].Ident[0]; pipe.IsAssign {
		slot = c.slot(name)
	} else {
		slot = c.declare(name)
	}
	return func(x *execution, dot reflect.Value) error {
		v, err := value(x, dot)
		if err != nil {
			return fmt.Errorf("%s: %w", pipe, err)
		}
		x.variables[x.frame+slot] = v
		return nil
	}, nil
}

// branch compiles an if, or a with, in which the value is the dot.
func (c *compiler) branch(node *parse.BranchNode, with bool) (statement, error) {
	value, _, err := c.pipeline(node.Pipe)
	if err != nil {
		return nil, err
	}
	defer c.leave(len(c.variables))
	slot := -1
	if len(node.Pipe.Decl) > 0 {
		slot = c.declare(node.Pipe.Decl[0].Ident[0])
	}
	yes, err := c.scope(node.List)
	if err != nil {
		return nil, err
	}
	no, err := c.scope(node.ElseList)
	if err != nil {
		return nil, err
	}
	return func(x *execution, dot reflect.Value) error {
		v, err := value(x, dot)
		if err != nil {
			return fmt.Errorf("%s: %w", node.Pipe, err)
		}
		if slot >= 0 {
			x.variables[x.frame+slot] = v
		}
		if !isTrue(v) {
			return no(x, dot)
		}
		if with {
			dot = v
		}
		return yes(x, dot)
	}, nil
}

// scope compiles nodes whose variables end with them.
func (c *compiler) scope(list *parse.ListNode) (statement, error) {
	defer c.leave(len(c.variables))
	return c.list(list)
}

// loop compiles a range.
func (c *compiler) loop(node *parse.RangeNode) (statement, error) {
	values, _, err := c.pipeline(node.Pipe)
	if err != nil {
		return nil, err
	}
	defer c.leave(len(c.variables))
	var slots []int // of the index and the element, or of the element alone
	for _, variable := range node.Pipe.Decl {
		slots = append(slots, c.declare(variable.Ident[0]))
	}
	each, err := c.scope(node.List)
	if err != nil {
		return nil, err
	}
	none, err := c.scope(node.ElseList)
	if err != nil {
		return nil, err
	}
	return func(x *execution, dot reflect.Value) error {
		v, err := values(x, dot)
		if err != nil {
			return fmt.Errorf("%s: %w", node.Pipe, err)
		}
		if v = element(v); v.IsValid() && v.Kind() != reflect.Slice && v.Kind() != reflect.Array {
			return fmt.Errorf("%s: a range over %s is not supported", node.Pipe, v.Type())
		}
		if !v.IsValid() || v.Len() == 0 {
			return none(x, dot)
		}
		for i := range v.Len() {
			item := v.Index(i)
			if len(slots) > 0 {
				x.variables[x.frame+slots[len(slots)-1]] = item
			}
			if len(slots) > 1 {
				x.variables[x.frame+slots[0]] = reflect.ValueOf(i)
			}
			if err := each(x, item); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// call compiles the call of another template.
func (c *compiler) call(node *parse.TemplateNode) (statement, error) {
	c.called = append(c.called, node.Name)
	set, data := c.set, constant(reflect.Value{})
	if node.Pipe != nil {
		var err error
		if data, _, err = c.pipeline(node.Pipe); err != nil {
			return nil, err
		}
	}
	return func(x *execution, dot reflect.Value) error {
		v, err := data(x, dot)
		if err != nil {
			return fmt.Errorf("%s: %w", node, err)
		}
		return x.run(set.programs[node.Name], v)
	}, nil
}

// isTrue reports whether a value is neither zero nor empty, as the template language
// has it.
func isTrue(v reflect.Value) bool {
	if v = element(v); !v.IsValid() {
		return false
	}
	switch v.Kind() {
	case reflect.Bool:
		return v.Bool()
	case reflect.String, reflect.Slice, reflect.Array, reflect.Map:
		return v.Len() > 0
	case reflect.Struct:
		return true
	case reflect.Pointer:
		return !v.IsNil()
	}
	truth, _ := template.IsTrue(v.Interface())
	return truth
}
